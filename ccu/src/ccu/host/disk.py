# SPDX-License-Identifier: Apache-2.0
"""The space of a disk, which a run must not fill."""

from __future__ import annotations

import errno
import os
from functools import cache
from pathlib import Path

from ccu.spec.errors import RunFailed
from ddu.run.memory import available_bytes

RESERVE_BYTES = 64 * 2**20
"""Reserved for others: a full disk harms more than this run."""
FULL_BYTES = 2**20
"""A program that fails with less than this may not even have been able to say why."""
STAGE = "disk"


def amount(size_bytes: float) -> str:
    """Return a readable size such as `0 B`, `12 MB`, `3.4 GB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= scale:
            value = size_bytes / scale
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{size_bytes:.0f} B"


def free_bytes(folder: Path) -> float:
    """Return how much can still be written below the folder. Files in memory (tmpfs) share it with
    all programs, whatever their file system has free."""
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    return min(free, available_bytes()) if _is_in_memory(folder.stat().st_dev) else free


@cache
def _is_in_memory(device: int) -> bool:
    """Return whether the file system of this device number is a tmpfs (proc_pid_mountinfo(5))."""
    number = f"{os.major(device)}:{os.minor(device)}"
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[2] == number and " - tmpfs " in line for line in mounts)


def watch(folder: Path, least_bytes: int = RESERVE_BYTES) -> None:
    """Raise RunFailed before the disk is full."""
    if (free := free_bytes(folder)) < least_bytes:
        raise RunFailed(STAGE, f"only {amount(free)} are free on the disk of {folder}")


def is_full(error: OSError) -> bool:
    """Return whether the disk, or the user's quota, is why something cannot be written."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
