# SPDX-License-Identifier: Apache-2.0
"""The kernel in virtual time, as nr-link reports it."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import NamedTuple

from ccu.scenarios import nr_link
from ddu.console.problems import CommandError, RefusedError


class Kernel(NamedTuple):
    """A kernel that can run here."""

    path: str
    congestion_controls: frozenset[str]


@cache
def examine() -> Kernel:
    """Return the kernel, which is looked for once.

    Raises RefusedError if it is not built or cannot run here, and CommandError if asking fails.
    """
    answer = json.loads(nr_link.ask(["virtual", "--problems", "json", "doctor"]))
    return Kernel(answer["kernel"], frozenset(answer["congestion_controls"]))


def congestion_controls() -> frozenset[str]:
    """Return the names that the kernel has; none if there is no kernel that can run here."""
    try:
        return examine().congestion_controls
    except RefusedError:
        return frozenset()


def release(path: str) -> str:
    """Return the release that the kernel at `path` says it is. Raises CommandError."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True)
    if said.returncode:
        raise CommandError(f"{path} --version ended with code {said.returncode}")
    return said.stdout.strip()
