# SPDX-License-Identifier: Apache-2.0
"""The records of a capture by dpkt's own header classes.

dpkt's readers would leave out the length on the wire, the exact time and a cut-off last record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dpkt import UnpackError, pcap, pcapng

from ddu.errors import UnreadableInput

Order = Literal["little", "big"]
_LEAST_BLOCK_BYTES = 12


@dataclass(frozen=True)
class Record:
    """One captured frame."""

    utc_ns: int
    wirelen: int
    link_type: int
    frame: bytes


@dataclass
class Records:
    """Iterates over the records of a file; `truncated_at` is known behind the last."""

    path: Path
    truncated_at: int | None = None

    def __iter__(self) -> Iterator[Record]:
        content = self.path.read_bytes()
        if not content:
            raise UnreadableInput(self.path, "at byte 0: the file is empty")
        if content[:4] == b"\n\r\r\n":
            return self._pcapng(content)
        magic = int.from_bytes(content[:4], "big")
        if len(content) < pcap.FileHdr.__hdr_len__ or magic not in pcap.MAGIC_TO_PKT_HDR:
            raise UnreadableInput(self.path, "at byte 0: neither pcap nor pcapng")
        return self._pcap(content, magic)

    def _pcap(self, content: bytes, magic: int) -> Iterator[Record]:
        header_class = pcap.MAGIC_TO_PKT_HDR[magic]
        is_little = header_class in (pcap.LEPktHdr, pcap.LEPktModHdr)
        file = (pcap.LEFileHdr if is_little else pcap.FileHdr)(content[:24])
        unit_ns = 1 if file.magic == pcap.TCPDUMP_MAGIC_NANO else 1000
        at, header_bytes = 24, header_class.__hdr_len__
        while at + header_bytes <= len(content):
            header = header_class(content[at : at + header_bytes])
            begin, end = at + header_bytes, at + header_bytes + header.caplen
            if end > len(content):
                break
            utc_ns = header.tv_sec * 1_000_000_000 + header.tv_usec * unit_ns
            yield Record(utc_ns, header.len, file.linktype, content[begin:end])
            at = end
        self.truncated_at = at if at < len(content) else None

    def _pcapng(self, content: bytes) -> Iterator[Record]:
        at = 0
        is_little = True
        interfaces: list[tuple[int, int, int]] = []
        while at + _LEAST_BLOCK_BYTES <= len(content):
            if content[at : at + 4] == b"\n\r\r\n":
                is_little = content[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a"
                interfaces = []
            order: Order = "little" if is_little else "big"
            kind = int.from_bytes(content[at : at + 4], order)
            length = int.from_bytes(content[at + 4 : at + 8], order)
            if length < _LEAST_BLOCK_BYTES:
                raise UnreadableInput(self.path, f"at byte {at}: a block of {length} bytes")
            if at + length > len(content):
                break
            block = content[at : at + length]
            record = None
            try:
                if kind == pcapng.PCAPNG_BT_IDB:
                    interfaces.append(_interface(block, is_little))
                elif kind in (pcapng.PCAPNG_BT_EPB, pcapng.PCAPNG_BT_PB):
                    record = _packet(block, kind, is_little, interfaces)
            except (UnpackError, IndexError, OverflowError, UnicodeDecodeError) as error:
                rule = f"at byte {at}: not a block of pcapng ({error})"
                raise UnreadableInput(self.path, rule) from None
            if record is not None:
                yield record
            at += length
        self.truncated_at = at if at < len(content) else None


def _interface(block: bytes, is_little: bool) -> tuple[int, int, int]:
    header = (
        pcapng.InterfaceDescriptionBlockLE if is_little else pcapng.InterfaceDescriptionBlock
    )(block)
    units, offset_s = 1_000_000, 0
    for option in header.opts:
        if option.code == pcapng.PCAPNG_OPT_IF_TSRESOL:
            resolution = option.data[0]
            units = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        elif option.code == pcapng.PCAPNG_OPT_IF_TSOFFSET:
            order: Order = "little" if is_little else "big"
            offset_s = int.from_bytes(option.data, order, signed=True)
    return header.linktype, units, offset_s


def _packet(
    block: bytes, kind: int, is_little: bool, interfaces: list[tuple[int, int, int]]
) -> Record:
    classes = {
        (pcapng.PCAPNG_BT_EPB, True): pcapng.EnhancedPacketBlockLE,
        (pcapng.PCAPNG_BT_EPB, False): pcapng.EnhancedPacketBlock,
        (pcapng.PCAPNG_BT_PB, True): pcapng.PacketBlockLE,
        (pcapng.PCAPNG_BT_PB, False): pcapng.PacketBlock,
    }
    packet = classes[kind, is_little](block)
    link_type, units, offset_s = interfaces[packet.iface_id]
    ticks = packet.ts_high << 32 | packet.ts_low
    utc_ns = ticks * 1_000_000_000 // units + offset_s * 1_000_000_000
    if abs(utc_ns) >= 2**63:
        raise OverflowError(f"{utc_ns} ns is no time")
    return Record(utc_ns, packet.pkt_len, link_type, packet.pkt_data)
