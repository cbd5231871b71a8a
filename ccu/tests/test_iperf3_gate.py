# SPDX-License-Identifier: Apache-2.0
"""iperf3 behind the sender: after the token only, from one address, one test, within limits."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest

from ccu.host import listening
from ccu.testbeds.phone.sender import Sender
from testsupport.ports import free_port
from testsupport.waiting import until

TOKEN = "0123456789abcdef"
PHONE, STRANGER = "127.0.0.1", "127.0.0.2"


class Served:
    """A sender in a thread, which keeps its events."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, inner: int, **more: Any) -> None:
        self.port = free_port()
        flow = {"id": "f0", "port": self.port, "direction": "dl", "cc": "reno", "duration_s": 1}
        config = {
            "address": "127.0.0.1", "token": TOKEN, "phone_addresses": [], "max_bytes": 10**10,
            "deadline_s": 600, "flows": [flow | {"iperf3_port": inner} | more.pop("flow", {})],
        }  # fmt: skip
        self.events: list[dict[str, Any]] = []
        self.sender = sender = Sender(config | more)
        monkeypatch.setattr(
            sender._log, "event", lambda name, **of: self.events.append({"event": name, **of})
        )
        self.thread = threading.Thread(target=sender.run)
        self.thread.start()

    def connect(self, source: str = PHONE, sent: bytes = b"") -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port), 600, (source, 0))
        sock.sendall(sent)
        return sock

    def show_token(self) -> None:
        with closing(self.connect(sent=f"{TOKEN}\n".encode())) as sock:
            assert sock.recv(1) == b""

    def wait(self) -> None:
        self.thread.join(600)
        assert not self.thread.is_alive(), self.events

    def end(self) -> None:
        """End it as its deadline would."""
        self.sender._until = 0.0
        self.wait()

    def of(self, name: str) -> list[dict[str, Any]]:
        return [one for one in self.events if one["event"] == name]


@contextmanager
def iperf3(port: int) -> Iterator[None]:
    program = shutil.which("iperf3")
    if program is None:
        pytest.skip("needs iperf3: setup/system-packages run")
    command = [program, "-s", "-1", "-B", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until(lambda: listening.addresses(port))
    try:
        yield
    finally:
        server.kill()
        server.wait()


def client(port: int, *more: str) -> dict[str, Any]:
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-J", "-t", "1", *more]
    finished = subprocess.run(command, capture_output=True, timeout=600)
    report: dict[str, Any] = json.loads(finished.stdout)
    return report


@pytest.mark.parametrize("direction", ["dl", "ul"])
def test_a_whole_test_passes(monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    inner = free_port()
    with iperf3(inner):
        served = Served(monkeypatch, inner, flow={"direction": direction})
        served.show_token()
        report = client(served.port, *(["-R"] if direction == "dl" else []))
        served.wait()
    assert "error" not in report
    (one,) = served.of("served")
    assert direction == "ul" or one["cc"] == "reno"
    (done,) = served.of("done")
    assert done["why"] == "time"
    counted = report["end"]["sum_received"]["bytes"]
    assert counted > 0
    # Bytes in flight when iperf3 stops its clock are in one count and not in the other.
    assert 0.5 < done["bytes"] / counted < 2


def test_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = free_port()
    with iperf3(inner):
        served = Served(monkeypatch, inner, max_bytes=3_000_000)
        served.show_token()
        client(served.port, "-R")
        served.wait()
    (done,) = served.of("done")
    assert done["why"] == "bytes"
    assert 2_900_000 < done["bytes"] <= 3_000_000


@contextmanager
def echo(port: int) -> Iterator[list[bytes]]:
    """Keep the data that comes to iperf3's port."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", port))

    def hear() -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                heard.append(sock.recv(37))

    thread = threading.Thread(target=hear, daemon=True)
    thread.start()
    yield heard
    listener.close()


def closed(sock: socket.socket) -> bool:
    sock.settimeout(600)
    with closing(sock), suppress(ConnectionError):
        return sock.recv(1) == b""
    return True


def test_other_clients_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = free_port()
    cookie, other = b"a" * 36 + b"\0", b"b" * 36 + b"\0"
    with echo(inner) as heard:
        served = Served(monkeypatch, inner)
        early = served.connect(sent=cookie + b"\n")  # before the token: a wrong greeting
        assert closed(early)
        browser = served.connect(sent=f"GET /{TOKEN} HTTP/1.1\r\n\r\n".encode())
        assert browser.recv(12) == b"HTTP/1.1 404"
        assert heard == []
        served.show_token()
        assert closed(served.connect(STRANGER, sent=cookie + b"\n"))
        control = served.connect(sent=cookie)
        until(lambda: heard == [cookie])
        assert closed(served.connect(sent=other))  # not of the same test
        assert closed(served.connect(sent=cookie + b"\n"))  # a third connection
        control.close()
        served.end()
        assert heard == [cookie]
    whys = [one["why"] for one in served.of("refused")]
    assert whys.count("has another test's cookie") == 1
    assert whys.count("wrong token") == 3


def test_the_gate_closes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccu.testbeds.phone.iperf3_gate._GATE_S", 0.1)
    inner = free_port()
    with echo(inner) as heard:
        served = Served(monkeypatch, inner)
        served.show_token()
        time.sleep(0.3)
        assert closed(served.connect(sent=b"a" * 37 + b"\n"))
        served.end()
    assert heard == []
