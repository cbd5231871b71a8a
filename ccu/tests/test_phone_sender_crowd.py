# SPDX-License-Identifier: Apache-2.0
"""The phone's sender among clients that connect and stay silent (it serves who sends the token)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ccu.testbeds.phone.sender import Greeting, Sender
from ccu.testbeds.phone.serving import Flow

TOKEN, VOLUME = "0123456789abcdef", 1000


@pytest.fixture
def port() -> Iterator[int]:
    """Serve one flow of VOLUME bytes on the loopback; yield its port."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    flow = {"id": "f0", "port": port, "direction": "dl", "cc": None, "duration_s": 5}
    config = {"address": "127.0.0.1", "token": TOKEN, "phone_addresses": [], "flows": [flow]}
    sender = Sender(config | {"max_bytes": VOLUME, "deadline_s": 20})
    thread = threading.Thread(target=sender.run)
    thread.start()
    yield port
    thread.join()


def client(port: int, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 20, source_address=(address, 0))


def received(holder: socket.socket) -> int:
    """Send the token; return how many bytes come."""
    with holder:
        holder.sendall(f"{TOKEN}\n".encode())
        return len(holder.makefile("rb").read())


@pytest.mark.parametrize("addresses", [1, 4, 16])
def test_sixteen_idle_connections_do_not_keep_the_token_out(port: int, addresses: int) -> None:
    with ExitStack() as stack:
        for number in range(16):
            stack.enter_context(client(port, f"127.0.0.{number % addresses + 2}"))
        assert received(client(port)) == VOLUME


def test_a_crowd_of_one_address_does_not_close_a_client_of_another(port: int) -> None:
    with ExitStack() as stack:
        holder = client(port)
        crowd = [stack.enter_context(client(port, "127.0.0.2")) for _ in range(20)]
        for closed in crowd[:16]:  # Each fifth one closes the oldest: four are left.
            assert closed.recv(1) == b""
        crowd[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            crowd[-1].recv(1)
        assert received(holder) == VOLUME


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ],
)
def test_what_counts_as_one_client(peer: str, network: str) -> None:
    with socket.socket() as sock:
        assert Greeting(sock, peer, Flow("f0", 1, "dl", None, 1.0), 0.0).network == network
