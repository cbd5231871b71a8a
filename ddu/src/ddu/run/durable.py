# SPDX-License-Identifier: Apache-2.0
"""Files that are on disk, whole, before anything relies on them.

A file is written under another name, reaches the disk (fsync(2)), and gets its name by one
rename(2), which reaches the disk as well. After a crash there is the old file or the new one.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NOT_REPLACED = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
_LONG_S = 3600.0


def sync(path: Path) -> None:
    """Let the disk hold a file, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems of networks cannot sync a folder.
        if error.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path, but: Set[Path] = frozenset()) -> None:
    """Let the disk hold a folder and all that is in it, but for these files."""
    for path in folder.rglob("*"):
        if path not in but and not path.is_symlink() and (path.is_file() or path.is_dir()):
            sync(path)
    sync(folder)


def write_text(file: Path, text: str) -> None:
    """Write a file that is the old one or the new one at every instant, also after a crash.

    One process writes it at a time. What a killed one leaves has a name that `discard_part` knows.
    """
    discard_part(file)
    with _becoming(file, _part_of(file)) as to:
        to.write(text.encode())


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of `file` when the block ends, as in `write_text`.

    Of two that write a file at once, the last to end is there, whole. A pipe, a device and an open
    file of this process (/dev/stdout) are written as they are.
    """
    if (file.exists() and not file.is_file()) or file.parent in _NOT_REPLACED:
        with file.open("wb") as to:
            yield to
        return
    _sweep_parts(file)
    part = file.with_name(f".{file.name}-{os.urandom(4).hex()}")
    with _becoming(file, part) as to:
        yield to


def replace_text(file: Path, text: str) -> None:
    """Write a file as `replacing`."""
    with replacing(file) as to:
        to.write(text.encode())


def _sweep_parts(file: Path) -> None:
    """Remove what killed processes have left of new files, which nobody has written for long."""
    for part in file.parent.glob(f".{glob.escape(file.name)}-????????"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _LONG_S:
                part.unlink()


@contextmanager
def _becoming(file: Path, part: Path) -> Iterator[BinaryIO]:
    try:
        with part.open("xb") as to:  # It follows no link.
            yield to
            to.flush()
            os.fsync(to.fileno())
        part.replace(file)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    sync(file.parent)


def replace_all(made: Path, folder: Path) -> None:
    """Put all that is in `made` on disk, and into `folder`, in place of what has its name."""
    sync_tree(made)
    for item in sorted(made.iterdir()):
        if item.is_dir():
            shutil.rmtree(folder / item.name, ignore_errors=True)
        item.replace(folder / item.name)
    sync(folder)


def discard_part(file: Path) -> None:
    """Remove what a killed process has left of a new file, before it had its name, or a link that
    somebody has put there."""
    with suppress(OSError):
        _part_of(file).unlink()


def _part_of(file: Path) -> Path:
    return file.with_suffix(".part")


def rename_durably(made: Path, target: Path) -> None:
    """Give what `sync_tree` has put on disk its name, and let the disk hold that."""
    made.replace(target)
    sync(target.parent)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process alone; waits for another that holds it (flock(2))."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # Unlocked, not only closed: a fork may have the descriptor, too.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@contextmanager
def temporary_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder in `parent`, which is gone afterwards unless it was renamed.

    Those that killed processes left there are removed: a living process holds its own.
    """
    with locked(parent):
        sweep(parent, prefix)
        made = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def sweep(parent: Path, prefix: str) -> None:
    """Remove the temporary folders that killed processes have left."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # A file, or another process's removal of it.
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
