# SPDX-License-Identifier: Apache-2.0
"""The addresses at which programs wait for packets or connections (proc(5), /proc/PID/net)."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from pathlib import Path

_STATES = {"tcp": "0A", "udp": "07"}  # include/net/tcp_states.h: listens, has no peer
ANY = frozenset({"0.0.0.0", "::"})
LOOPBACK = "127.0.0.1"


def addresses(port: int, protocol: str = "tcp", process: int | str = "thread-self") -> set[str]:
    """Return the local addresses of the sockets that wait on `port` in the network of a process.

    By default it is the network of this thread: a thread that has moved has its own.
    """
    there = set()
    for table in (protocol, f"{protocol}6"):
        try:
            rows = Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            _, local, _, state, *_ = row.split()
            address, _, number = local.partition(":")
            if state == _STATES[protocol] and number == f"{port:04X}":
                there.add(_address(address))
    return there


def _address(words: str) -> str:
    """Return the address of a row, whose words of 32 bits are in the CPU's byte order."""
    numbers = (int(words[at : at + 8], 16) for at in range(0, len(words), 8))
    return str(ip_address(b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)))
