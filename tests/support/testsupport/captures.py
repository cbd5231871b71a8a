# SPDX-License-Identifier: Apache-2.0
"""Captures of generated packets, by type of link."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st
from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Ether, Loopback
from scapy.packet import Packet
from scapy.utils import PcapWriter

U8, U16, U32 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32))


MAC = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}


def _ether(packet: Packet) -> Packet:
    return Ether(**MAC) / packet


LINKS = {
    1: _ether,
    101: lambda packet: packet,
    113: lambda packet: CookedLinux(proto=0x0800 if packet.version == 4 else 0x86DD) / packet,
    276: lambda packet: CookedLinuxV2(proto=0x0800 if packet.version == 4 else 0x86DD) / packet,
    0: lambda packet: Loopback(type=2 if packet.version == 4 else 10) / packet,
    12: lambda packet: packet,
    14: lambda packet: packet,
}


def write(path: Path, link_type: int, frames: list[bytes], snaplen: int = 1 << 18) -> Path:
    with PcapWriter(str(path), linktype=link_type, nano=True) as writer:
        writer.write_header(None)
        for number, frame in enumerate(frames):
            seconds, ns = 1_700_000_000 + number // 3, 999_999_990 + number % 3
            writer.write_packet(
                frame[:snaplen],
                sec=seconds,
                usec=ns,
                caplen=len(frame[:snaplen]),
                wirelen=len(frame),
            )
    return path
