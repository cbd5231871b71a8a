# SPDX-License-Identifier: Apache-2.0
"""Containment of programs that users wrote: policies, sender programs, programs in virtual time.

They run without root (as the user who called sudo, or nobody), in namespaces of their own, with a
read-only view of the files, and behind a filter of system calls (docs/congestion-controls.md).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from ccu.host.contain.rights import FEATURES, Rights
from ccu.host.contain.user import chosen
from ddu import interpreter

__all__ = ["Rights", "contained", "losses"]

_ITSELF = interpreter.of_package(__name__)  # __main__.py


def contained(command: Sequence[str], rights: Rights) -> list[str]:
    """Return the command that runs `command` with these rights, with all means of containment that
    this machine has.

    The program can always read the Python of this process, and its packages.
    """
    packages = (one for one in (sys.prefix, sys.base_prefix, *sys.path) if Path(one).is_dir())
    reads, writes = _absolute((*rights.reads, *packages)), _absolute(rights.writes)
    lacking = {*losses(), *_out_of_reach((*reads, *writes))}
    features = tuple(one for one in FEATURES if one not in lacking)
    unchanged = _absolute(rights.unchanged)
    wanted = rights._replace(reads=reads, writes=writes, unchanged=unchanged, features=features)
    return [*_ITSELF, wanted.as_json(), *command]


@cache
def losses() -> dict[str, str]:
    """Return the features (FEATURES) that this machine lacks, each with the reason. Prints them,
    once."""
    import subprocess  # This package is imported by each contained program, where it starts.

    tried = subprocess.run(_ITSELF, capture_output=True, text=True, check=True)
    lacking: dict[str, str] = json.loads(tried.stdout)
    if lacking:
        without = "; ".join(f"{FEATURES[one]} ({why})" for one, why in lacking.items())
        sentence = f"policies and programs of yours run without {without}"
        print(f"ccu: {sentence}; see docs/congestion-controls.md", file=sys.stderr)
    return lacking


def _out_of_reach(paths: Iterable[str]) -> set[str]:
    """Return the feature `nobody` if the program has to stay root to reach the paths: it has no
    view of the files of its own, and no other user may enter all folders above them. Prints that,
    once."""
    if "mounts" not in losses():
        return set()
    other = chosen()
    if all(other.reaches(Path(one)) for one in paths):
        return set()
    _print_root()
    return {"nobody"}


@cache
def _print_root() -> None:
    sentence = "policies and programs of yours run as root without capabilities, since no other"
    print(f"ccu: {sentence} user may enter the folders of ccu or of the run", file=sys.stderr)


def _absolute(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(Path(one).resolve()) for one in paths if one))
