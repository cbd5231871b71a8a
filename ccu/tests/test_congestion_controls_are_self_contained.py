# SPDX-License-Identifier: Apache-2.0
"""The name of a congestion control that this project supplies occurs in its own folder only.

The names of the kernel's own (`cubic`, `reno`, `bbr`) are Linux's: examples and defaults have them.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("ccu/src", "ddu/src", "nr-link/*/src", "nr-link/*/*/src", "nr-link/virtual/driver")
SUFFIXES = {".py", ".rs", ".c", ".h", ""}
OWN = "ccu/src/ccu/congestion/reminis/"
ENGLISH = {"constant", "tutorial"}
"""Policies whose names are words of every text."""

DECLARED = {
    "ddu/src/ddu/readers/hercules.py": "the names in another testbed's files",
    "ddu/src/ddu/report/palette.py": "a colour for each, the same in all figures",
}
"""The files that may name one, each with the reason."""


def supplied() -> set[str]:
    """The names: those of the sources in cc/, and the one that kmod/ is."""
    sources = [*ROOT.glob("cc/bpf/*.bpf.c"), *ROOT.glob("cc/policies/*.py")]
    names = {file.name.partition(".")[0].partition("-")[0] for file in sources}
    return names - ENGLISH | {"reminis"}


def test_no_congestion_control_is_named_outside_its_folder() -> None:
    assert {"copa", "bbr2", "bbr3", "c2tcp", "vegas", "orca", "vivace"} <= supplied()
    names = re.compile(rf"(?<![a-z])({'|'.join(sorted(supplied()))})(?![a-z])", re.IGNORECASE)
    mentions = []
    searched = {
        file for folder in SOURCES for part in ROOT.glob(folder) for file in part.rglob("*")
    }
    for file in sorted(searched):
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(OWN) or name in DECLARED or file.suffix not in SUFFIXES:
            continue
        if not file.is_file() or "egg-info" in name:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            # Parts of identifiers count, too: ReminisModule, reminis_rows; fields of inet_diag do
            # not.
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", line)
            if names.search(re.sub(r"(?i)vegas(info|_)", "", words)):
                mentions.append(f"{name}:{number}: {line.strip()}")
    assert mentions == [], "\n".join(mentions)


def test_what_may_name_one_still_does() -> None:
    for name in DECLARED:
        assert re.search("|".join(supplied()), (ROOT / name).read_text(), re.IGNORECASE), name
