# SPDX-License-Identifier: Apache-2.0
"""Sockets that other processes have open."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PIDFD_GETFD = 438  # x86-64 and arm64 alike; Linux 5.6


def set_congestion_control(pid: int, port: int, name: str) -> str | None:
    """Give the TCP connections of a process from local `port` another congestion control.

    Returns the one that they have then, as reported by the kernel; None: there are none. Raises
    OSError.
    """
    now = None
    for connection in _connections(pid, port):
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            read = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            now = read.rstrip(b"\0").decode()
    return now


def _connections(pid: int, port: int) -> Iterator[socket.socket]:
    """Yield copies of the process's TCP connections from local `port`."""
    process = os.pidfd_open(pid)
    try:
        for entry in Path("/proc", str(pid), "fd").iterdir():
            with suppress(FileNotFoundError):
                if str(entry.readlink()).startswith("socket:"):
                    copy = socket.socket(fileno=_copy(process, int(entry.name)))
                    if _is_from(copy, port):
                        yield copy
                    else:
                        copy.close()
    finally:
        os.close(process)


def _is_from(one: socket.socket, port: int) -> bool:
    is_tcp = one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM
    return is_tcp and one.getsockname()[1] == port and _is_connected(one)


def _is_connected(one: socket.socket) -> bool:
    try:
        one.getpeername()
    except OSError:
        return False
    return True


def _copy(process: int, descriptor: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    copy: int = libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    if copy < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return copy
