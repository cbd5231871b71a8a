# SPDX-License-Identifier: Apache-2.0
"""System calls of Linux that Python has no function for."""

from __future__ import annotations

import ctypes
import os
import struct

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NETWORK = (  # CLONE_NEW…, linux/sched.h
    0x0002_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
)  # fmt: skip
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8  # MS_… and MOUNT_ATTR_…, linux/mount.h
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x4_0000  # MS_…
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000  # linux/fcntl.h
_OPENAT2, _MOUNT_SETATTR = 437, 442  # on every architecture
_RESOLVE_IN_ROOT = 0x10  # linux/openat2.h
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38  # linux/prctl.h

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]  # An int would leave the upper half.


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def unshare(namespaces: int) -> None:
    """Move this process, or for NEW_PID its children, into new namespaces."""
    _checked(_libc.unshare(namespaces), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    names = (one.encode() or None for one in (source, target, kind))
    _checked(_libc.mount(*names, ctypes.c_ulong(flags), options.encode() or None), target)


def restrict(target: str, flags: int) -> None:
    """Set these flags of a mount and of all mounts below it."""
    _set_attributes(target, _AT_RECURSIVE, flags, 0)


def allow(target: str, flag: int) -> None:
    """Clear a flag of a mount, not of those below it."""
    _set_attributes(target, 0, 0, flag)


def _set_attributes(target: str, at_flags: int, attr_set: int, attr_clr: int) -> None:
    """Call mount_setattr(2), which is there since Linux 5.12."""
    attributes = struct.pack("=4Q", attr_set, attr_clr, 0, 0)
    result = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, target.encode(), at_flags, attributes,
        ctypes.c_size_t(len(attributes)),
    )  # fmt: skip
    _checked(result, target)


def open_in_root(root: int, path: str, flags: int) -> int:
    """Open a path with the folder `root` as the root of all its links (openat2(2), since Linux
    5.6)."""
    how = struct.pack("=3Q", flags | os.O_CLOEXEC, 0, _RESOLVE_IN_ROOT)
    descriptor: int = _libc.syscall(
        _OPENAT2, root, os.fsencode(path), how, ctypes.c_size_t(len(how))
    )
    _checked(descriptor, path)
    return descriptor


def end_with_parent(signal_number: int) -> None:
    """Have the kernel send the signal when the parent ends; a change of the user cancels it."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def gain_no_privileges() -> None:
    """Give up the rights that programs with set-user-ID or file capabilities would gain."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def drop_bounding_set() -> None:
    """Give up every capability for what is executed from now on."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            return  # The last one that the kernel knows was the one before.
