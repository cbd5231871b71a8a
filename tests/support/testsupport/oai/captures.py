# SPDX-License-Identifier: Apache-2.0
"""The packets in captures of a run over OpenAirInterface, counted by dpkt."""

from __future__ import annotations

import socket
from pathlib import Path

import dpkt

_ETHERNET_BYTES = 14


def captured_bytes(file: Path, address: str, protocol: int | None = None) -> int:
    """Return the IPv4 bytes to `address`, of one protocol (dpkt.ip.IP_PROTO_…) or of all."""
    return sum(captured_lengths(file, address, protocol))


def captured_lengths(file: Path, address: str, protocol: int | None = None) -> list[int]:
    """Return the length of each IPv4 packet to `address`, of one protocol or of all."""
    lengths = []
    with file.open("rb") as packets:
        reader = dpkt.pcap.Reader(packets)
        # A tunnel has IP packets only, the data network's interface has Ethernet.
        header_bytes = _ETHERNET_BYTES if reader.datalink() == dpkt.pcap.DLT_EN10MB else 0
        for _, frame in reader:
            packet = frame[header_bytes:]
            if packet[:1] == b"" or packet[0] >> 4 != 4:  # IPv6 solicits routers, ARP.
                continue
            ip = dpkt.ip.IP(packet)
            if protocol in (None, ip.p) and socket.inet_ntoa(ip.dst) == address:
                lengths.append(ip.len)
    return lengths
