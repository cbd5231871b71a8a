# SPDX-License-Identifier: Apache-2.0
"""The server of a phone's traffic, exposed to the internet.

Started as `python -m ccu.testbeds.phone.sender CONFIG`.

For each flow it listens on a port and serves one connection, which sends bytes to the phone (dl) or
receives bytes from it (ul) for a given time. A client has to send the run's token, as a line of its
own (`echo TOKEN | nc …`) or as the path of a GET, unless its address is configured.

Its protections:
- It runs as long as the run, and at most `deadline_s`. As root it sets the congestion control on
  the listening sockets, which accepted sockets inherit (tcp_ca_openreq_child in the kernel); then
  it becomes user nobody permanently, without groups or capabilities.
- A client without the token gets a closed connection (404 for a GET). The first ones are logged
  with a line each, later ones are counted. Clients have 5 s to send the token; at most 16 wait,
  four of one network, and the next one takes the turn of the oldest of the network that has the
  most: a client that sends the token gets in. Connections are accepted at a limited rate, a lower
  one after every flow is served.
- A flow ends after its time, or when all flows together have carried `max_bytes`; a peer that stops
  reading cannot prolong it.
- iperf3 is behind these checks (ccu.testbeds.phone.iperf3_gate).

It and its two modules use the standard library only, so that they are easy to review. Events are
lines of JSON on stdout.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import json
import os
import pwd
import resource
import selectors
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccu.testbeds.phone.iperf3_gate import Gate
from ccu.testbeds.phone.serving import (
    CHUNK_BYTES,
    GREETING_S,
    POLL_S,
    TCP_CONGESTION,
    Budget,
    Flow,
    Log,
    acked_bytes,
)

_MOST_WAITING, _MOST_OF_A_NETWORK = 16, 4
_MOST_GREETING_BYTES = 4096
_ACCEPTS_PER_S, _ACCEPTS_PER_S_WHEN_BUSY = 100, 10
_DRAIN_S = 5.0
_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG, _PR_CAPBSET_DROP = 38, 1, 24
_HEADERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
    b"Content-Disposition: attachment; filename=traffic.bin\r\n"
    b"Cache-Control: no-store\r\nConnection: close\r\n\r\n"
)
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class Greeting:
    """A connection that has not sent its token yet."""

    sock: socket.socket
    peer: str
    flow: Flow
    until: float
    received: bytes = b""

    @property
    def network(self) -> str:
        """Return what one client has to itself: an IPv4 address, a /64 of IPv6."""
        address = ipaddress.ip_address(self.peer)
        if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
            return self.peer
        return str(ipaddress.ip_network((address.packed, 64), strict=False))


class Sender:
    """The server: it listens, checks the token, and serves each flow in a thread of its own."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._token = str(config["token"]).encode()
        self._friends = set(config["phone_addresses"])
        self._flows = [Flow(**flow) for flow in config["flows"]]
        self._budget = Budget(int(config["max_bytes"]))
        self._log = Log()
        self._gates = {
            flow.id: Gate(flow, flow.iperf3_port, self._budget, self._log)
            for flow in self._flows
            if flow.iperf3_port
        }
        self._block = memoryview(os.urandom(CHUNK_BYTES))
        self._greetings: dict[int, Greeting] = {}
        self._selector = selectors.DefaultSelector()
        self._accepted: list[float] = []
        self._until = time.monotonic() + float(config["deadline_s"])
        self._listeners = [self._listen(config["address"], flow) for flow in self._flows]

    def _listen(self, address: str, flow: Flow) -> tuple[socket.socket, Flow]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if flow.direction == "dl" and flow.cc:
            listener.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow.cc.encode())
        listener.bind((address, flow.port))
        listener.listen(_MOST_WAITING)
        listener.setblocking(False)
        return listener, flow

    def run(self) -> None:
        """Serve until every flow is done, or time is up."""
        self._accepting(True)
        self._log.event("ready", ports=[flow.port for flow in self._flows])
        while time.monotonic() < self._until and not all(flow.done for flow in self._flows):
            for key, _ in self._selector.select(POLL_S):
                if isinstance(key.data, Flow):
                    self._accept(key.fileobj, key.data)  # type: ignore[arg-type]
                else:
                    self._hear(key.data)
            self._dismiss_the_slow()
            self._accepting(self._may_accept())
        self._log.event("ended", refusals=self._log.refusals)

    def _accepting(self, on: bool) -> None:
        """Switch accepting on or off. While off, the kernel refuses clients beyond its short
        queue."""
        registered = self._selector.get_map()
        for listener, flow in self._listeners:
            if on and listener.fileno() not in registered:
                self._selector.register(listener, selectors.EVENT_READ, flow)
            elif not on and listener.fileno() in registered:
                self._selector.unregister(listener)

    def _may_accept(self) -> bool:
        now = time.monotonic()
        self._accepted = [at for at in self._accepted if at > now - 1]
        busy = all(flow.served for flow in self._flows)
        return len(self._accepted) < (_ACCEPTS_PER_S_WHEN_BUSY if busy else _ACCEPTS_PER_S)

    def _accept(self, listener: socket.socket, flow: Flow) -> None:
        try:
            sock, address = listener.accept()
        except OSError:
            return
        self._accepted.append(time.monotonic())
        peer = str(address[0])
        gate = self._gates.get(flow.id)
        is_friend = peer.removeprefix("::ffff:") in self._friends
        if gate and is_friend:
            gate.open(peer)
        if gate and gate.lets(peer):
            gate.take(sock)
        elif flow.served:
            self._refuse(sock, peer, "the flow is served already")
        elif is_friend and not gate:
            self._serve(sock, flow, http=False)
        else:
            sock.setblocking(False)
            self._await_token(Greeting(sock, peer, flow, time.monotonic() + GREETING_S))

    def _await_token(self, greeting: Greeting) -> None:
        """Let a client wait, in place of an idle one where too many wait."""
        waiting = Counter(one.network for one in self._greetings.values())
        crowd = greeting.network
        if waiting[crowd] < _MOST_OF_A_NETWORK and waiting.total() >= _MOST_WAITING:
            crowd = waiting.most_common(1)[0][0]
        if waiting[crowd] >= _MOST_OF_A_NETWORK or waiting.total() >= _MOST_WAITING:
            oldest = next(one for one in self._greetings.values() if one.network == crowd)
            self._hear(oldest)  # It may have sent its token by now.
            if self._waits(oldest):
                self._forget(oldest)
                self._refuse(oldest.sock, oldest.peer, "too many clients at once")
        self._greetings[greeting.sock.fileno()] = greeting
        self._selector.register(greeting.sock, selectors.EVENT_READ, greeting)

    def _waits(self, greeting: Greeting) -> bool:
        return self._greetings.get(greeting.sock.fileno()) is greeting

    def _hear(self, greeting: Greeting) -> None:
        if not self._waits(greeting):
            return
        try:
            chunk = greeting.sock.recv(_MOST_GREETING_BYTES - len(greeting.received))
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        greeting.received += chunk
        line, newline, _ = greeting.received.partition(b"\n")
        is_http = line.startswith((b"GET ", b"HEAD ", b"POST "))
        if is_http and not (b"\r\n\r\n" in greeting.received or b"\n\n" in greeting.received):
            newline = b""  # Wait for all of its headers.
        full = len(greeting.received) >= _MOST_GREETING_BYTES
        if not newline and chunk and not full:
            return
        self._forget(greeting)
        shown = line.split(b" ")[1].lstrip(b"/") if is_http and b" " in line else line.strip()
        flow = greeting.flow
        gate = self._gates.get(flow.id)
        if not hmac.compare_digest(shown, self._token):
            why = "wrong token" if line else "sent nothing"
            self._refuse(greeting.sock, greeting.peer, why, http=is_http)
        elif flow.served or (is_http and (gate or flow.direction != "dl" or line[:4] != b"GET ")):
            self._refuse(greeting.sock, greeting.peer, "requests an unknown path", http=is_http)
        elif gate:
            gate.open(greeting.peer)
            greeting.sock.close()
        else:
            self._serve(greeting.sock, flow, is_http)

    def _forget(self, greeting: Greeting) -> None:
        self._selector.unregister(greeting.sock)
        del self._greetings[greeting.sock.fileno()]

    def _dismiss_the_slow(self) -> None:
        now = time.monotonic()
        for greeting in [one for one in self._greetings.values() if one.until < now]:
            self._forget(greeting)
            self._refuse(greeting.sock, greeting.peer, f"no token within {GREETING_S:g} s")

    def _refuse(self, sock: socket.socket, peer: str, why: str, http: bool = False) -> None:
        self._log.refused(peer, why)
        with contextlib.suppress(OSError):
            if http:
                sock.setblocking(False)
                sock.send(_NOT_FOUND)
        sock.close()

    def _serve(self, sock: socket.socket, flow: Flow, http: bool) -> None:
        flow.served = True
        serve = self._send if flow.direction == "dl" else self._take
        threading.Thread(target=self._carry, args=(serve, sock, flow, http), daemon=True).start()

    def _carry(self, serve: Any, sock: socket.socket, flow: Flow, http: bool) -> None:
        began = time.monotonic()
        count, why = 0, "time"
        try:
            sock.settimeout(POLL_S)
            self._log.served(sock, flow, http=http)
            count, why = serve(sock, began + flow.duration_s, http)
        except OSError as error:
            why = f"peer left: {error.strerror or error}"
        lasted_s = time.monotonic() - began
        acked = self._finish(sock) if flow.direction == "dl" else None
        sock.close()
        self._log.event(
            "done", flow=flow.id, bytes=count, acked_bytes=acked, lasted_s=lasted_s, why=why,
            with_drain_s=time.monotonic() - began,
        )  # fmt: skip
        flow.done = True

    def _send(self, sock: socket.socket, until: float, http: bool) -> tuple[int, str]:
        count = 0
        if http:
            sock.sendall(_HEADERS)
        while time.monotonic() < until:
            granted = self._budget.take(CHUNK_BYTES)
            if not granted:
                return count, "bytes"
            sent = 0
            try:
                sent = sock.send(self._block[:granted])
            except TimeoutError:
                continue
            except OSError:
                return count, "peer left"
            finally:
                self._budget.give_back(granted - sent)
                count += sent
        return count, "time"

    def _take(self, sock: socket.socket, until: float, _http: bool) -> tuple[int, str]:
        count = 0
        buffer = bytearray(CHUNK_BYTES)
        while time.monotonic() < until:
            try:
                got = sock.recv_into(buffer)
            except TimeoutError:
                continue
            if not got:
                return count, "peer left"
            count += got
            if self._budget.take(got) < got:
                return count, "bytes"
        return count, "time"

    @staticmethod
    def _finish(sock: socket.socket) -> int:
        """Wait a while for the queue to drain; return how many bytes the peer has acknowledged."""
        until = time.monotonic() + _DRAIN_S
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)
            while time.monotonic() < until:
                with contextlib.suppress(TimeoutError):
                    if not sock.recv(4096):
                        break
        return acked_bytes(sock)


def drop_privileges() -> None:
    """Become nobody permanently: no groups, no capabilities, no large files, no new privileges."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.geteuid() == 0:
        for capability in range(64):
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setresgid(nobody.pw_gid, nobody.pw_gid, nobody.pw_gid)
        os.setresuid(nobody.pw_uid, nobody.pw_uid, nobody.pw_uid)
        # The change of user clears the parent-death signal (prctl(2)).
        libc.prctl(_PR_SET_PDEATHSIG, 15, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def main(config_file: str) -> int:
    """Read the configuration, which holds the token, remove its file, and serve."""
    file = Path(config_file)
    config = json.loads(file.read_text())
    file.unlink()
    try:
        sender = Sender(config)
    except OSError as error:
        print(f"cannot listen: {error.strerror}", file=sys.stderr)
        return 1
    drop_privileges()
    sender.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
