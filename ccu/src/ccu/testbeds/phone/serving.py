# SPDX-License-Identifier: Apache-2.0
"""What all ways of serving a phone have in common: flows, the bytes that are left, and the events.

Standard library only, as `ccu.testbeds.phone.sender`, whose parts these are.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from typing import Any

GREETING_S = 5.0
POLL_S = 0.2
CHUNK_BYTES = 256 * 1024
TCP_CONGESTION = 13  # linux/tcp.h
_BYTES_ACKED_AT = 120  # struct tcp_info, linux/tcp.h: after 8 bytes, 24 words and 2 rates
_LINES_OF_REFUSALS = 100


@dataclass
class Flow:
    """One connection that will be served."""

    id: str
    port: int
    direction: str
    cc: str | None
    duration_s: float
    iperf3_port: int | None = None
    """Where iperf3 listens on the loopback, if it carries this flow."""
    served: bool = False
    done: bool = False


@dataclass
class Budget:
    """Bytes that all flows together may still carry."""

    left: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, wanted: int) -> int:
        """How many of `wanted` bytes there are; those are then gone."""
        with self.lock:
            granted = min(wanted, self.left)
            self.left -= granted
            return granted

    def give_back(self, unused: int) -> None:
        with self.lock:
            self.left += unused


class Log:
    """Events as lines of JSON; strangers can only fill so many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told = 0
        self.refusals: dict[str, int] = {}

    def event(self, name: str, **more: Any) -> None:
        with self._lock:
            print(json.dumps({"event": name, "utc_ns": time.time_ns(), **more}), flush=True)

    def refused(self, peer: str, why: str) -> None:
        self.refusals[why] = self.refusals.get(why, 0) + 1
        if self._told < _LINES_OF_REFUSALS:
            self._told += 1
            self.event("refused", peer=peer, why=why)

    def served(self, sock: socket.socket, flow: Flow, **more: Any) -> None:
        """Whom, from where, and with which congestion control, as the kernel says it."""
        used = sock.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)
        self.event(
            "served", flow=flow.id, local=list(sock.getsockname()[:2]),
            peer=list(sock.getpeername()[:2]), cc=used.split(b"\0")[0].decode(), **more,
        )  # fmt: skip


def acked_bytes(sock: socket.socket) -> int:
    """What the peer has acknowledged; what it has not is not waited for when the socket closes."""
    info = b""
    with contextlib.suppress(OSError):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    acked = struct.unpack_from("<Q", info, _BYTES_ACKED_AT)[0] if len(info) >= 128 else 0
    return max(int(acked) - 1, 0)  # FIN counts, too.
