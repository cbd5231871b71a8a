# SPDX-License-Identifier: Apache-2.0
"""The common parts of the phone's servers: flows, the byte budget, and the log of events.

They use the standard library only, as `ccu.testbeds.phone.sender`, to which they belong.
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
    """A connection to serve."""

    id: str
    port: int
    direction: str
    cc: str | None
    duration_s: float
    iperf3_port: int | None = None
    """The port of iperf3 on the loopback, if it carries this flow."""
    served: bool = False
    done: bool = False


@dataclass
class Budget:
    """The bytes that all flows together may still carry."""

    left: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, wanted: int) -> int:
        """Take up to `wanted` bytes from the budget; return how many."""
        with self.lock:
            granted = min(wanted, self.left)
            self.left -= granted
            return granted

    def give_back(self, unused: int) -> None:
        with self.lock:
            self.left += unused


class Log:
    """A log of events as lines of JSON, with a limited number of lines on refused clients."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._refusals = 0
        self.refusals: dict[str, int] = {}

    def event(self, name: str, **more: Any) -> None:
        with self._lock:
            print(json.dumps({"event": name, "utc_ns": time.time_ns(), **more}), flush=True)

    def refused(self, peer: str, why: str) -> None:
        self.refusals[why] = self.refusals.get(why, 0) + 1
        if self._refusals < _LINES_OF_REFUSALS:
            self._refusals += 1
            self.event("refused", peer=peer, why=why)

    def served(self, sock: socket.socket, flow: Flow, **more: Any) -> None:
        """Log a served peer with the addresses and congestion control reported by the kernel."""
        used = sock.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16)
        self.event(
            "served", flow=flow.id, local=list(sock.getsockname()[:2]),
            peer=list(sock.getpeername()[:2]), cc=used.split(b"\0")[0].decode(), **more,
        )  # fmt: skip


def acked_bytes(sock: socket.socket) -> int:
    """Return the bytes that the peer has acknowledged; a closing socket does not wait for
    others."""
    info = b""
    with contextlib.suppress(OSError):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    acked = struct.unpack_from("<Q", info, _BYTES_ACKED_AT)[0] if len(info) >= 128 else 0
    return max(int(acked) - 1, 0)  # FIN counts, too.
