# SPDX-License-Identifier: Apache-2.0
"""The interface to a container runtime, Docker or LXC."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ccu.host.resources import Resource


def _as_in_proc(address: str) -> str:
    """Return an IPv4 address as /proc/net writes it, in the CPU's byte order."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}"


_LISTENS = "0A"  # include/net/tcp_states.h
_UNCONNECTED = "07"
_LOOPBACK = _as_in_proc("127.0.0.1")


class Runtime(Protocol):
    def resources(self) -> list[Resource]:
        """Return the resources that it makes on this machine, in order of creation."""
        ...

    def check(self) -> None:
        """Raise RefusedError if the runtime or an image is missing."""
        ...

    def start(self, services: Sequence[str]) -> None:
        """Start services. Raises RunFailed."""
        ...

    def restart(self, service: str) -> None: ...

    def pid(self, service: str) -> int | None:
        """Return the pid of the container's first process; None if it does not run."""
        ...

    def log_command(self, service: str) -> list[str]:
        """Return a command that prints the container's output with timestamps until it ends."""
        ...

    def shell_command(self, service: str) -> list[str]: ...

    def stop(self, services: Sequence[str]) -> None:
        """Stop services by SIGTERM; the containers stay for inspection."""
        ...

    def remove(self) -> None:
        """Remove every container and network that this runtime made."""
        ...


def listens(
    pid: int, port: int, protocol: str = "tcp", addresses: Sequence[str] | None = None
) -> bool:
    """Return whether a socket in the network namespace of `pid` listens on `port` (proc(5)).

    `addresses`: only a socket on one of these IPv4 addresses or on all; None means any that others
    can reach, so not 127.0.0.1.
    """
    hosts = [_as_in_proc(one) for one in addresses or ()]
    wanted = {_LISTENS} if protocol == "tcp" else {_UNCONNECTED}
    for name in (protocol, f"{protocol}6"):
        try:
            rows = Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            host, _, number = fields[1].partition(":")
            if fields[3] not in wanted or number != f"{port:04X}":
                continue
            wide = not host.strip("0")
            if wide or (host != _LOOPBACK if addresses is None else host in hosts):
                return True
    return False
