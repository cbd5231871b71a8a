# SPDX-License-Identifier: Apache-2.0
"""The addresses at which programs wait, by /proc, against those that sockets were given."""

from __future__ import annotations

import os
import socket

import pytest

from ccu.host import listening


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"])
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM], ids=["tcp", "udp"])
def test_a_socket_that_waits_is_seen_with_its_address(address: str, kind: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    protocol = "tcp" if kind == socket.SOCK_STREAM else "udp"
    with socket.socket(family, kind) as waiting:
        if ":" in address:
            waiting.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        waiting.bind((address, 0))
        port = waiting.getsockname()[1]
        if protocol == "tcp":
            assert listening.addresses(port) == set()  # It is bound, and does not listen yet.
            waiting.listen()
        assert listening.addresses(port, protocol) == {address}
        assert listening.addresses(port, protocol, os.getpid()) == {address}
    assert listening.addresses(port, protocol) == set()


def test_a_process_that_is_gone_waits_nowhere() -> None:
    assert listening.addresses(80, "tcp", 2**22 + 1) == set()
