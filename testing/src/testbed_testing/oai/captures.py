# SPDX-License-Identifier: Apache-2.0
"""What captures of a run over OpenAirInterface hold, counted by dpkt."""

from __future__ import annotations

import socket
from pathlib import Path

import dpkt


def captured_bytes(file: Path, address: str, protocol: int | None = None) -> int:
    """Return the IPv4 bytes to `address`, of one protocol (dpkt.ip.IP_PROTO_…) or of all."""
    total = 0
    with file.open("rb") as packets:
        for _, packet in dpkt.pcap.Reader(packets):
            if packet[0] >> 4 != 4:  # IPv6 solicits routers.
                continue
            ip = dpkt.ip.IP(packet)
            if protocol in (None, ip.p) and socket.inet_ntoa(ip.dst) == address:
                total += ip.len
    return total
