# SPDX-License-Identifier: Apache-2.0
"""The raw data of two runs of the same experiment, compared byte by byte."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from ddu.run.integrity import sha256_of
from ddu.run.manifest import read_content

_BLOCK_BYTES = 1 << 20
_RAW, _LOGS = Path("raw"), Path("raw/logs")
"""Logs are about the machine's work, not the run."""


def first_difference(first: Path, second: Path, ignored: Collection[str]) -> str | None:
    """Return where the raw data of two runs differ first, by name and byte; None if they do not.

    Of a file that a campaign has dropped in `first`, run.json has the SHA-256. `ignored`: names of
    files in raw/ that describe the machine's work, not the run.
    """
    dropped = _dropped(first)
    ours, theirs = _names([*_files(first), *dropped]), _names(_files(second))
    for name in sorted((ours | theirs) - set(ignored)):
        if name not in ours & theirs:
            return f"raw/{name} is only in {first if name in ours else second}"
        if (first / "raw" / name).exists():
            at = _differs_at(first / "raw" / name, second / "raw" / name)
            if at is not None:
                return f"raw/{name} differs from byte {at} on"
        elif sha256_of(second / "raw" / name) != dropped[_RAW / name]:
            return f"raw/{name} differs; of the first, only the SHA-256 was kept"
    return None


def _names(files: Iterable[Path]) -> set[str]:
    """Return the names, relative to raw/, of those of a run's files that have to be the same."""
    return {
        str(file.relative_to(_RAW))
        for file in files
        if _RAW in file.parents and _LOGS not in file.parents
    }


def _files(run: Path) -> list[Path]:
    return [file.relative_to(run) for file in (run / _RAW).rglob("*") if file.is_file()]


def _dropped(run: Path) -> dict[Path, str]:
    """Return the digests of the files that are not kept."""
    kept = read_content(run).get("kept") or {}
    return {Path(one["file"]): one["sha256"] for one in kept.get("dropped", ())}


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
