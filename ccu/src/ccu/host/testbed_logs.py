# SPDX-License-Identifier: Apache-2.0
"""The logs of testbeds that were started manually, kept for a while after their end.

A mark in the directory says whether its testbed is up, for every ccu that can see it. Each ccu
locks the folder while it makes and removes directories.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ccu.host import resources
from ccu.host.disk import amount

FOLDER = Path("/var/lib/ccu/testbeds")
MOST_KEPT = 3
"""The logs kept of testbeds that are down, when another comes up."""
_IN_USE = "in-use"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class LogDirectory:
    """The log directory of a testbed that is starting or up; its name is the record's."""

    kind: ClassVar[str] = "log-directory"
    directory: str

    def make(self) -> None:
        """Make the directory, protected from removal until `remove` or the next boot."""
        with resources.locked(FOLDER):
            Path(self.directory, "raw", "logs").mkdir(parents=True)
            Path(self.directory, _IN_USE).write_text(_BOOT_ID.read_text())

    def remove(self) -> list[str]:
        """Mark the logs as those of a testbed that is down."""
        Path(self.directory, _IN_USE).unlink(missing_ok=True)
        return []


def remove(kept: int = 0) -> list[str]:
    """Remove the logs of all but the newest `kept` testbeds that are down; return a sentence."""
    with resources.locked(FOLDER):
        old = _ended()[kept:]
        size_bytes = sum(file.lstat().st_size for one in old for file in one.rglob("*"))
        for one in old:
            shutil.rmtree(one, ignore_errors=True)
    which = "a testbed" if len(old) == 1 else f"{len(old)} testbeds"
    return [f"removed the logs of {which} ({amount(size_bytes)}) in {FOLDER}"] if old else []


def _ended() -> list[Path]:
    """Return the directories of testbeds that are down, the newest first."""
    directories = [one for one in FOLDER.iterdir() if one.is_dir() and not _is_in_use(one)]
    return sorted(directories, key=lambda one: one.stat().st_mtime_ns, reverse=True)


def _is_in_use(directory: Path) -> bool:
    try:
        marked = (directory / _IN_USE).read_text() == _BOOT_ID.read_text()
    except FileNotFoundError:
        marked = False
    # An older ccu made no mark, but a record.
    return marked or resources.record_file(directory.name).exists()
