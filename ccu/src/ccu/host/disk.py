# SPDX-License-Identifier: Apache-2.0
"""The space of a disk, which a run must not fill."""

from __future__ import annotations

import os
from pathlib import Path

from ccu.spec.errors import RunFailed

RESERVE_BYTES = 64 * 2**20
"""Reserved for others: a full disk harms more than this run."""


def amount(size_bytes: float) -> str:
    """Return a readable size such as `0 B`, `12 MB`, `3.4 GB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= scale:
            value = size_bytes / scale
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{size_bytes:.0f} B"


def free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def watch(folder: Path) -> None:
    """Raise RunFailed before the disk is full."""
    if (free := free_bytes(folder)) < RESERVE_BYTES:
        raise RunFailed("disk", f"only {amount(free)} are free on the disk of {folder}")
