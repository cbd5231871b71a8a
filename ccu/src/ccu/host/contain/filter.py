# SPDX-License-Identifier: Apache-2.0
"""The filter of system calls, by libseccomp.

It refuses what a program that computes and sends never needs, and what attacks on the kernel begin
with: other processes, kernel objects, namespaces, and sockets besides those that it is given.
"""

from __future__ import annotations

import ctypes
import errno
import socket

_ALLOW = 0x7FFF_0000
_REFUSE = 0x0005_0000  # | the error's number
_MASKED_EQUAL, _GREATER = 7, 6  # enum scmp_compare
_WORD = 0xFFFF_FFFF  # Of arguments that are int, the kernel takes no more.
_NAMESPACES = 0x7E02_0000  # CLONE_NEW…, linux/sched.h
_OF_TERMINALS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX (asm-generic/ioctls.h), which type into a terminal, and paste there."""
_SOCKET_TYPE = 0xF  # SOCK_TYPE_MASK, linux/net.h
_NEW_CALL = b"clone3"  # Its flags are in memory; C libraries call clone where it is unknown.

_NEVER = (
    # kernel and machine
    "bpf", "perf_event_open", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "iopl",
    "ioperm", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname",
    "setdomainname", "nfsservctl", "lookup_dcookie",
    # views of files and namespaces
    "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at",
    "name_to_handle_at", "fanotify_init",
    # other processes, and keys
    "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "add_key", "request_key",
    "keyctl",
    # what goes past this filter, or has been a way into the kernel
    "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "vmsplice",
    "move_pages", "migrate_pages", "mbind",
)  # fmt: skip
_OF_DEBUGGERS = ("ptrace", "personality")
"""The system calls that User Mode Linux is made of, too."""


class _Compare(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class Filter:
    """A filter that can be put onto this process. Raises OSError where there is no libseccomp."""

    def __init__(self, families: tuple[int, ...], *, traces_children: bool) -> None:
        """`families`: of the sockets that can be made; `traces_children`: by ptrace(2)."""
        self._library = ctypes.CDLL("libseccomp.so.2")
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(_ALLOW))
        for name in (*_NEVER, *(() if traces_children else _OF_DEBUGGERS)):
            self._refuse(name.encode(), errno.EPERM)
        self._refuse(_NEW_CALL, errno.ENOSYS)
        for flag in (1 << bit for bit in range(32) if _NAMESPACES & 1 << bit):
            self._refuse(b"clone", errno.EPERM, _Compare(0, _MASKED_EQUAL, flag, flag))
        for request in _OF_TERMINALS:
            self._refuse(b"ioctl", errno.EPERM, _Compare(1, _MASKED_EQUAL, _WORD, request))
        self._restrict_sockets(sorted(families))
        if socket.AF_UNIX not in families:
            self._restrict_pairs()

    def load(self) -> None:
        """Put it onto this process, for good."""
        if result := self._library.seccomp_load(self._context):
            raise OSError(-result, "seccomp_load")

    def _restrict_sockets(self, families: list[int]) -> None:
        """Refuse all families but these, which are in order: the gaps between them."""
        at = 0
        for family in families:
            for gap in range(at, family):
                self._refuse(b"socket", errno.EACCES, _Compare(0, _MASKED_EQUAL, _WORD, gap))
            at = family + 1
        self._refuse(b"socket", errno.EACCES, _Compare(0, _GREATER, at - 1) if at else None)

    def _restrict_pairs(self) -> None:
        """Refuse pairs of datagram sockets, which can send to any other Unix socket as well."""
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):  # Linux makes the latter the former.
            alike = _Compare(1, _MASKED_EQUAL, _SOCKET_TYPE, kind)
            self._refuse(b"socketpair", errno.EACCES, alike)

    def _refuse(self, name: bytes, error: int, when: _Compare | None = None) -> None:
        number = self._library.seccomp_syscall_resolve_name(name)
        if number < 0:
            return  # This architecture, or libseccomp, does not know it.
        rules = ctypes.byref(when) if when else None
        action = ctypes.c_uint32(_REFUSE | error)
        result = self._library.seccomp_rule_add_array(
            self._context, action, number, 1 if when else 0, rules
        )
        if result:
            raise OSError(-result, f"seccomp_rule_add {name.decode()}")
