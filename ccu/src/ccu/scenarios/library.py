# SPDX-License-Identifier: Apache-2.0
"""The scenarios' files and names."""

from __future__ import annotations

import re
from pathlib import Path

from ccu.scenarios import nr_link, sets
from ddu.console.input_file import path_in, why_none
from ddu.console.problems import RefusedError, refusal
from ddu.console.suggestions import unknown
from ddu.installation import data

LIBRARY = data("ccu", "scenarios")

# mmwave-walking-07 is the channel that mmwave-walking draws from seed 7.
_NUMBERED = re.compile(r"(?P<name>.+)-(?P<seed>\d{2,9})")


def library() -> dict[str, str]:
    """Return the names and summaries of the scenarios that come with the project."""
    return nr_link.summaries(sorted(LIBRARY.glob("*.yaml")))


def locate(name: str, seed: int = 1) -> Path:
    """Return the file of scenario `name`: a library name, a path, or a set of measured traces
    (SET: the trace that `seed` draws; SET-07: that of seed 7; SET/TRACE). Raises RefusedError."""
    file = path_in(name) or LIBRARY / f"{name}.yaml"
    if file.is_file():
        return file.resolve()
    numbered = _NUMBERED.fullmatch(file.stem)
    if numbered and (unnumbered := file.with_stem(numbered["name"])).is_file():
        return unnumbered.resolve()
    if folder := sets.containing(name):
        if folder == sets.folder_of(name):
            return sets.drawn(folder, seed)
        if numbered and folder == sets.folder_of(name.rpartition("-")[0]):
            return sets.drawn(folder, int(numbered["seed"]))
        return sets.trace(folder, name.rpartition("/")[2])
    if path_in(name):
        fix = "give a file, or a name of `ccu list scenarios`"
        raise refusal(f"{name}: {why_none(file)}", fix)
    there = [*(file.stem for file in LIBRARY.glob("*.yaml")), *sets.known()]
    raise RefusedError(unknown("scenario", name, there, "or give the path of a file"))


def seed_of(name: str) -> int | None:
    """Return the seed in a name such as mmwave-walking-07; None if a file has that name."""
    file = path_in(name) or LIBRARY / f"{name}.yaml"
    numbered = None if file.is_file() else _NUMBERED.fullmatch(file.stem)
    return int(numbered["seed"]) if numbered else None
