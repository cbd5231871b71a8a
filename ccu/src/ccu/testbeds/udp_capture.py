# SPDX-License-Identifier: Apache-2.0
"""The UDP payload that a capture has for one port (pcap, IPv4)."""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path

_MAGICS = {b"\x4d\x3c\xb2\xa1": "<", b"\xd4\xc3\xb2\xa1": "<"}
# Bytes before the IP header by the capture's link type: Ethernet, raw IP (two numbers), Linux
# cooked v1 and v2 (https://www.tcpdump.org/linktypes.html).
_BEFORE_IP = {1: 14, 12: 0, 101: 0, 113: 16, 276: 20}
_FILE_HEADER, _PACKET_HEADER, _UDP = 24, 16, 17
_UDP_HEADER_BYTES = 8


def arrived(capture: Path, address: str, port: int) -> dict[int, int]:
    """Return the payload in bytes that went to an address and port, by the port it came from."""
    data, found = capture.read_bytes(), dict[int, int]()
    target = ipaddress.IPv4Address(address).packed
    if data[:4] not in _MAGICS:
        return found
    (link_type,) = struct.unpack_from("<I", data, 20)
    before = _BEFORE_IP.get(link_type & 0xFFFF)
    at = _FILE_HEADER
    while before is not None and at + _PACKET_HEADER <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        ip = at + _PACKET_HEADER + before
        at += _PACKET_HEADER + length
        if length < before + 28 or data[ip] >> 4 != 4 or data[ip + 9] != _UDP:
            continue
        udp = ip + 4 * (data[ip] & 15)
        source, to, size = struct.unpack_from(">HHH", data, udp)
        if to == port and data[ip + 16 : ip + 20] == target:
            found[source] = found.get(source, 0) + size - _UDP_HEADER_BYTES
    return found
