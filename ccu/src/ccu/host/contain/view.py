# SPDX-License-Identifier: Apache-2.0
"""A read-only view of this machine's files, with the few that the program may write, and without
its devices: to be read-only does not keep a terminal from being written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ccu.host.contain import linux
from ccu.host.contain.user import User

SCRATCH = Path("/dev/shm")
"""Memory of the program's own, for what it writes besides."""
_DEV = Path("/dev")
_HIDDEN = (Path("/run"), _DEV)
"""Sockets of services; devices, and files of other runs in /dev/shm."""
_DEVICES = ("full", "null", "random", "urandom", "zero")
"""The devices that read nothing of anybody's, which C libraries and shells expect."""
_PROC = "/proc"
_LINKS = {"fd": f"{_PROC}/self/fd"} | {
    name: f"{_PROC}/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))
}


def enter(
    user: User,
    reads: Iterable[Path],
    writes: Iterable[Path],
    unchanged: Iterable[Path],
    *,
    new_proc: bool,
) -> None:
    """Give this process the view, in new mounts: all that `user` may read, and `reads` where it may
    not enter their folders; `writes` as they are, but for what is `unchanged` in them. That is a
    mount, which nobody who sees it can rename or remove."""
    linux.unshare(linux.NEW_MOUNTS)
    linux.mount("", "/", flags=linux.RECURSIVE | linux.PRIVATE)
    writable, spared = list(writes), list(unchanged)
    shown = [one for path in (*reads, *writable) for one in _shown(path, user)]
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in {*shown, *spared}}
    devices = {one: os.open(one, os.O_PATH | os.O_CLOEXEC) for one in _harmless_devices()}
    covers = _covers(shown, user)
    for cover in covers:
        _cover(cover)
    for name, to in _LINKS.items():
        (_DEV / name).symlink_to(to)
    SCRATCH.mkdir()
    _cover(SCRATCH)
    for device, descriptor in devices.items():
        _show(device, descriptor)
    for path, descriptor in sorted(opened.items()):
        if path in (*writable, *spared) or any(path.is_relative_to(one) for one in covers):
            _show(path, descriptor)
    if new_proc:
        flags = linux.NO_SUID | linux.NO_DEVICES | linux.NO_EXEC
        linux.mount("proc", _PROC, "proc", flags)
    # Devices lie elsewhere, too: a chroot(2) has a /dev of its own.
    linux.restrict("/", linux.READ_ONLY | linux.NO_SUID | linux.NO_DEVICES)
    for path in (*writable, SCRATCH):
        linux.allow(str(path), linux.READ_ONLY)
    for device in devices:
        linux.allow(str(device), linux.NO_DEVICES)
    os.chown(SCRATCH, user.uid, user.gid)


def _harmless_devices() -> list[Path]:
    return [path for name in _DEVICES if (path := _DEV / name).exists()]


def _cover(folder: Path) -> None:
    linux.mount("tmpfs", str(folder), "tmpfs", linux.NO_SUID | linux.NO_DEVICES, "mode=0755")


def _shown(path: Path, user: User) -> list[Path]:
    """Return the path, or what a folder has that the user may not enter."""
    state = path.stat()
    if stat.S_ISDIR(state.st_mode) and not user.may_enter(state):
        return sorted(path.iterdir())
    return [path]


def _covers(shown: Iterable[Path], user: User) -> list[Path]:
    """Return the folders in whose place the view has new ones: those that are hidden, and the
    first on the way to each path that the user may not enter."""
    covered = {one for one in _HIDDEN if one.is_dir()}
    for path in shown:
        for folder in reversed(path.parents):
            if not user.may_enter(folder.stat()):
                covered.add(folder)
                break
    return [one for one in sorted(covered) if not any(up in covered for up in one.parents)]


def _show(path: Path, descriptor: int) -> None:
    """Put what the descriptor is at a path again, which may have been covered."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            path.mkdir(mode=0o755)
        else:
            path.touch()
    flags = linux.BIND | linux.RECURSIVE
    linux.mount(f"/proc/self/fd/{descriptor}", str(path), flags=flags)
