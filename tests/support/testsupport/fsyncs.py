# SPDX-License-Identifier: Apache-2.0
"""The files and folders that a program puts on disk, in their order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Fsyncs:
    """Each fsync(2): the name at that time, and the inode."""

    done: list[tuple[Path, int]] = field(default_factory=list)

    def need_whole(self, file: Path) -> None:
        """Assert that the file was on disk before it had its name, which is on disk, too."""
        inodes = [inode for _, inode in self.done]
        assert file.stat().st_ino in inodes, f"{file} never reached the disk"
        written = inodes.index(file.stat().st_ino)
        assert self.done[written][0] != file.resolve(), f"{file} had its name before"
        assert file.parent.stat().st_ino in inodes[written:], f"the name of {file} did not"


@contextmanager
def fsyncs() -> Iterator[Fsyncs]:
    seen, fsync = Fsyncs(), os.fsync

    def noted(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        seen.done.append((name, os.fstat(descriptor).st_ino))
        fsync(descriptor)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", noted)
        yield seen
