# SPDX-License-Identifier: Apache-2.0
"""Ports that nobody uses."""

import socket


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """Return a port of TCP, or of UDP for SOCK_DGRAM."""
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
