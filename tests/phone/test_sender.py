# SPDX-License-Identifier: Apache-2.0
"""The sender under access by unauthorised clients."""

from __future__ import annotations

import contextlib
import json
import pwd
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ccu.host.namespace import inside
from ccu.testbeds.phone import sender as sender_module
from testsupport.phone.street import Street
from testsupport.waiting import until

PORT, TOKEN, SECONDS = 5201, "0123456789abcdef", 2
PROGRAM = ("-m", sender_module.__name__)


class Served:
    """A sender in the server's network, from start to end."""

    def __init__(self, street: Street, **changes: Any) -> None:
        folder = street.folder / f"sender-{time.monotonic_ns()}"
        folder.mkdir()
        self.config = folder / "config.json"
        flow = {"id": "f0", "port": PORT, "direction": "dl", "cc": "cubic", "duration_s": SECONDS}
        self.config.write_text(
            json.dumps(
                {
                    "address": "198.51.100.1", "token": TOKEN, "phone_addresses": [],
                    "max_bytes": 10**9, "deadline_s": 30, "flows": [flow | changes.pop("flow", {})],
                }
                | changes
            )
        )  # fmt: skip
        self.events_file = folder / "events.jsonl"
        with self.events_file.open("wb") as events:
            command = ["ip", "netns", "exec", street.server, sys.executable, "-I", *PROGRAM]
            self.process = subprocess.Popen([*command, str(self.config)], stdout=events)
        self.wait_for("ready")

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = self.events_file.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def wait_for(self, name: str) -> dict[str, Any]:
        return until(lambda: [one for one in self.events if one["event"] == name])[0]


def phone(street: Street, greeting: str = TOKEN) -> int:
    """Return the bytes that the phone's nc receives after it has sent `greeting`."""
    script = f"(echo {greeting}; sleep {SECONDS}.3) | toybox nc 198.51.100.1 {PORT} | wc -c"
    printed = subprocess.run(
        ["ip", "netns", "exec", street.phone, "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
    )
    return int(printed.stdout)


def connected(street: Street, port: int = PORT) -> socket.socket:
    """Connect an unauthorised client near the server, not limited by the radio's rate."""
    with inside(street.server):
        sock = socket.socket()
    sock.settimeout(2)
    sock.connect(("198.51.100.1", port))
    return sock


def flood(street: Street, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError):
            connected(street).close()


def slow(street: Street, over: threading.Event) -> None:
    held = []
    while not over.is_set():
        with contextlib.suppress(OSError):
            held.append(connected(street))
        for sock in held[-30:]:
            with contextlib.suppress(OSError):
                sock.send(b"0")
        over.wait(0.1)
    for sock in held:
        sock.close()


def guess(street: Street, over: threading.Event) -> None:
    for attempt in range(10**6):
        if over.is_set():
            return
        with contextlib.suppress(OSError), contextlib.closing(connected(street)) as sock:
            line = f"GET /{attempt:016x} HTTP/1.1\r\n\r\n" if attempt % 2 else f"{attempt:016x}\n"
            sock.sendall(line.encode())
            answer = sock.recv(100)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 404")


def scan(street: Street, over: threading.Event) -> None:
    while not over.is_set():
        for port in range(PORT - 50, PORT + 50):
            with contextlib.suppress(OSError):
                connected(street, port).close()


@contextmanager
def attacked(street: Street, *attacks: Callable[[Street, threading.Event], None]) -> Iterator[None]:
    over = threading.Event()
    threads = [threading.Thread(target=attack, args=(street, over)) for attack in attacks]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(20)


@pytest.mark.root
def test_unauthorised_clients_do_not_disturb_a_run(street: Street) -> None:
    for attack in (flood, slow, guess, scan):
        transferred_bytes, events = transferred(street, attack)
        assert transferred_bytes > 0, attack
        assert [one["why"] for one in events if one["event"] == "done"] == ["time"], attack
        lines = [one for one in events if one["event"] == "refused"]
        assert sum(events[-1]["refusals"].values()) >= len(lines) > 0, attack
        assert len(lines) <= 100


def transferred(
    street: Street, *attacks: Callable[[Street, threading.Event], None]
) -> tuple[int, list[dict[str, Any]]]:
    """Return the bytes that the phone received among other clients, and the sender's events."""
    served = Served(street)
    got: list[int] = []
    transfer = threading.Thread(target=lambda: got.append(phone(street)))
    transfer.start()
    # Only after the start of the transfer: before, a flood may delay the phone for seconds.
    served.wait_for("served")
    with attacked(street, *attacks):
        transfer.join(60)
    assert served.process.wait(600) == 0
    return got[0], served.events


@pytest.mark.root
def test_its_privileges_and_files(street: Street) -> None:
    served = Served(street)
    assert not served.config.exists()
    pid = served.process.pid
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    nobody = str(pwd.getpwnam("nobody").pw_uid)
    assert fields["Uid"].split() == [nobody] * 4
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[capabilities], 16) == 0
    assert fields["Groups"].split() == []
    assert fields["NoNewPrivs"] == "1"
    assert phone(street) > 0
    assert served.process.wait(600) == 0
    done = served.wait_for("done")
    assert done["why"] == "time"
    with pytest.raises(ConnectionRefusedError):
        connected(street)


@pytest.mark.root
def test_a_known_address_needs_no_token(street: Street) -> None:
    served = Served(street, phone_addresses=["198.51.100.2"])
    assert phone(street, "") > 0
    assert served.process.wait(600) == 0


@pytest.mark.root
def test_the_time_is_up_without_a_phone(street: Street) -> None:
    served = Served(street, deadline_s=1)
    assert served.process.wait(600) == 0
    assert served.events[-1]["event"] == "ended"


@pytest.mark.root
def test_a_peer_that_stops_reading_is_disconnected(street: Street) -> None:
    served = Served(street, flow={"duration_s": 1})
    sock = connected(street)
    sock.sendall(f"{TOKEN}\n".encode())
    served.wait_for("served")
    assert served.process.wait(600) == 0
    # Not by the deadline, which ends the sender without it.
    assert [one["why"] for one in served.events if one["event"] == "done"] == ["time"]
    sock.close()
