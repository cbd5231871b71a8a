# SPDX-License-Identifier: Apache-2.0
"""What the testbed asks of Docker or LXC: the same questions of both."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ccu.host.resources import Resource

_LISTENS = "0A"  # include/net/tcp_states.h
_UNCONNECTED = "07"


class Runtime(Protocol):
    def resources(self) -> list[Resource]:
        """What it makes on this machine, in the order in which that comes to be."""
        ...

    def check(self) -> None:
        """Raises RefusedError if the runtime or an image is missing."""
        ...

    def start(self, services: Sequence[str]) -> None:
        """Starts services. Raises RunFailed."""
        ...

    def restart(self, service: str) -> None: ...

    def pid(self, service: str) -> int | None:
        """Of the container's first process; None if it does not run."""
        ...

    def log_command(self, service: str) -> list[str]:
        """Follows what the container prints, each line stamped; ends when the container does."""
        ...

    def shell_command(self, service: str) -> list[str]: ...

    def stop(self, services: Sequence[str]) -> None:
        """Stops services in kindness; they stay to be looked at."""
        ...

    def remove(self) -> None:
        """Removes every container and network that this runtime made."""
        ...


def listens(
    pid: int, port: int, protocol: str = "tcp", addresses: Sequence[str] | None = None
) -> bool:
    """Whether a socket in the network namespace of `pid` waits on `port` (proc(5): net/tcp).

    `addresses`: only one that waits on one of these (IPv4) or on all; None: whatever it waits on.
    """
    # /proc has an address as the CPU has the number.
    hosts = [
        f"{int.from_bytes(socket.inet_aton(one), sys.byteorder):08X}" for one in addresses or ()
    ]
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
            if addresses is None or host in hosts or not host.strip("0"):
                return True
    return False
