# SPDX-License-Identifier: Apache-2.0
"""The lock in a campaign's directory shows whether somebody works on it (docs/campaigns.md)."""

from __future__ import annotations

from pathlib import Path

_LOCKS = Path("/proc/locks")


def is_worked_on(campaign: Path) -> bool:
    """Whether a ccu of this machine holds the campaign's lock, which is not touched by asking."""
    try:
        inode = (campaign / ".lock").stat().st_ino
        held = _LOCKS.read_text().splitlines()
    except OSError:
        return False
    return any(_inode(line) == inode for line in held)


def _inode(line: str) -> int | None:
    """Return the inode of `1: FLOCK ADVISORY WRITE 708 08:01:1234 0 EOF` (proc_locks(5)): 1234.

    Devices are not compared, as the kernel and stat name that of some file systems differently.
    """
    fields = line.split()
    place = next((one for one in fields if one.count(":") == 2), "")
    return int(place.rpartition(":")[2]) if place and "->" not in fields else None
