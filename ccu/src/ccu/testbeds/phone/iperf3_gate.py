# SPDX-License-Identifier: Apache-2.0
"""The gate that protects iperf3 by the sender's checks.

iperf3 has no token, so it listens on this machine's loopback only. A client that has sent the token
may make iperf3's two connections, from the same address and within some seconds; the second must
have the first's cookie. The gate relays bytes between the two: congestion control, limits and end
are those of every other flow, and iperf3 needs no privileges. The values of its own socket (window,
retransmissions) are the loopback's and meaningless; the phone's iperf3 reports the phone's.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import threading
import time
from collections.abc import Callable

from ccu.testbeds.phone.serving import (
    CHUNK_BYTES,
    GREETING_S,
    POLL_S,
    Budget,
    Flow,
    Log,
    acked_bytes,
)

_GATE_S = 15.0
_COOKIE_BYTES = 37  # with its final NUL: the first data of iperf3 on each connection
_CONNECTIONS = 2  # control, data
_RESULTS_S = 10.0
"""The time for the exchange of parameters before and of results after the transfer."""
_EARLY_S = 0.5
_CLOSING_S = 1.0


class Gate:
    """A gate that is open for the two connections of one test, after the token was sent."""

    def __init__(self, flow: Flow, iperf3_port: int, budget: Budget, log: Log) -> None:
        self._flow, self._port, self._budget, self._log = flow, iperf3_port, budget, log
        self._peer: str | None = None
        self._until = 0.0
        self._cookie = b""
        self._count = 0
        self._control_port: int | None = None
        self._data_thread: threading.Thread | None = None

    def open(self, peer: str) -> None:
        """Open the gate for this address; only the first call counts."""
        if self._peer is None:
            self._peer, self._until = peer, time.monotonic() + _GATE_S

    def lets(self, peer: str) -> bool:
        """Return whether a connection from that address may pass."""
        return self._peer == peer and self._count < _CONNECTIONS and time.monotonic() < self._until

    def take(self, sock: socket.socket) -> None:
        """Relay a connection in a thread of its own: first the control connection, then the
        data's."""
        self._count += 1
        pass_on: Callable[[socket.socket], None] = self._data
        if self._count == 1:
            pass_on = self._control
        thread = threading.Thread(target=pass_on, args=(sock,), daemon=True)
        if self._count > 1:
            self._data_thread = thread
        thread.start()

    def _control(self, sock: socket.socket) -> None:
        """Relay the control connection, from the parameters to the results; the flow ends with
        it."""
        until = time.monotonic() + self._flow.duration_s + 2 * _RESULTS_S
        with contextlib.suppress(OSError), sock:
            self._control_port = int(sock.getpeername()[1])
            sock.settimeout(GREETING_S)
            self._cookie = _cookie_of(sock)
            with self._inner(self._cookie) as inner:
                answers = threading.Thread(target=self._relay, args=(inner, sock, until))
                answers.start()
                self._relay(sock, inner, until)
                # iperf3's last data goes to the phone first.
                with contextlib.suppress(OSError):
                    inner.shutdown(socket.SHUT_WR)
                answers.join()
        if self._data_thread:
            self._data_thread.join()
        if not self._flow.served:
            self._log.event("failed", flow=self._flow.id, why="iperf3 made no data connection")
        self._flow.done = True

    def _data(self, sock: socket.socket) -> None:
        flow, began = self._flow, time.monotonic()
        count, why = 0, "peer left"
        with sock:
            try:
                sock.settimeout(GREETING_S)
                cookie = _cookie_of(sock)
                if not hmac.compare_digest(cookie, self._cookie):
                    self._log.refused(str(self._peer), "has another test's cookie")
                    return
                flow.served = True
                self._log.served(sock, flow, http=False, control_port=self._control_port)
                with self._inner(cookie) as inner:
                    ends = (inner, sock) if flow.direction == "dl" else (sock, inner)
                    began = time.monotonic()
                    count, why = self._relay(*ends, began + flow.duration_s + 1)
            except OSError as error:
                why = f"peer left: {error.strerror or error}"
            lasted_s = time.monotonic() - began
            _close_in_order(sock)
            if why == "peer left" and lasted_s > flow.duration_s - _EARLY_S:
                why = "time"  # iperf3 ends its test by itself.
            self._log.event(
                "done", flow=flow.id, bytes=count, why=why, lasted_s=lasted_s,
                acked_bytes=acked_bytes(sock) if flow.direction == "dl" else None,
                with_drain_s=lasted_s,
            )  # fmt: skip

    def _inner(self, cookie: bytes) -> socket.socket:
        # Not create_connection: user nobody may lack access to files that Python loads for name
        # lookups.
        inner = socket.socket()
        inner.settimeout(GREETING_S)
        inner.connect(("127.0.0.1", self._port))
        inner.sendall(cookie)
        return inner

    def _relay(self, source: socket.socket, sink: socket.socket, until: float) -> tuple[int, str]:
        """Relay bytes until either side ends, time is up, or the budget is used."""
        count = 0
        buffer = memoryview(bytearray(CHUNK_BYTES))
        try:
            source.settimeout(POLL_S)
            sink.settimeout(POLL_S)
            while time.monotonic() < until:
                try:
                    got = source.recv_into(buffer)
                except TimeoutError:
                    continue
                if not got:
                    return count, "peer left"
                granted = self._budget.take(got)
                sent = 0
                while sent < granted and time.monotonic() < until:
                    with contextlib.suppress(TimeoutError):
                        sent += sink.send(buffer[sent:granted])
                count += sent
                if granted < got:
                    return count, "bytes"
        except OSError:
            return count, "peer left"
        return count, "time"


def _close_in_order(sock: socket.socket) -> None:
    """End our direction and read until the peer ends its own: a close at once would reset it."""
    until = time.monotonic() + _CLOSING_S
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(_CLOSING_S)
        while time.monotonic() < until and sock.recv(CHUNK_BYTES):
            pass


def _cookie_of(sock: socket.socket) -> bytes:
    received = b""
    while len(received) < _COOKIE_BYTES:
        got = sock.recv(_COOKIE_BYTES - len(received))
        if not got:
            raise ConnectionAbortedError(0, "no cookie")
        received += got
    return received
