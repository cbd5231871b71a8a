# SPDX-License-Identifier: Apache-2.0
"""What testbeds brought up by hand said: kept for a while after their end, to be looked into."""

from __future__ import annotations

import shutil
from pathlib import Path

from ccu.host import leftovers
from ccu.host.disk import amount

FOLDER = Path("/var/lib/ccu/testbeds")
MOST_KEPT = 3
"""Of testbeds that are down, when another comes up."""


def ended() -> list[Path]:
    """The directories of testbeds that are down, the newest first."""
    in_use = {Path(one.run_directory) for one in leftovers.everybodys()}
    there = FOLDER.iterdir() if FOLDER.is_dir() else ()
    found = [one for one in there if one.is_dir() and one.resolve() not in in_use]
    return sorted(found, key=lambda one: one.stat().st_mtime_ns, reverse=True)


def remove(kept: int = 0) -> list[str]:
    """Removes all but the newest `kept` of them; a sentence if there were any."""
    old = ended()[kept:]
    size_bytes = sum(file.lstat().st_size for one in old for file in one.rglob("*"))
    for one in old:
        shutil.rmtree(one, ignore_errors=True)
    which = "a testbed" if len(old) == 1 else f"{len(old)} testbeds"
    return [f"removed the logs of {which} ({amount(size_bytes)}) in {FOLDER}"] if old else []
