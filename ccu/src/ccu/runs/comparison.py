# SPDX-License-Identifier: Apache-2.0
"""The raw data of two runs of the same experiment, compared byte by byte."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

_BLOCK_BYTES = 1 << 20


def first_difference(first: Path, second: Path, ignored: Collection[str]) -> str | None:
    """Return where the raw data of two runs differ first, by name and byte; None if they do not.

    `ignored`: names of files in raw/ that describe the machine's work, not the run.
    """
    ours, theirs = _names(first), _names(second)
    for name in sorted((ours | theirs) - set(ignored)):
        if name not in ours & theirs:
            return f"raw/{name} is only in {first if name in ours else second}"
        at = _differs_at(first / "raw" / name, second / "raw" / name)
        if at is not None:
            return f"raw/{name} differs from byte {at} on"
    return None


def _names(run: Path) -> set[str]:
    return {file.name for file in (run / "raw").iterdir() if file.is_file()}


def _differs_at(first: Path, second: Path) -> int | None:
    at = 0
    with first.open("rb") as one, second.open("rb") as other:
        while True:
            ours, theirs = one.read(_BLOCK_BYTES), other.read(_BLOCK_BYTES)
            if ours != theirs:
                pairs = enumerate(zip(ours, theirs, strict=False))
                shorter = min(len(ours), len(theirs))
                return at + next((number for number, (a, b) in pairs if a != b), shorter)
            if not ours:
                return None
            at += len(ours)
