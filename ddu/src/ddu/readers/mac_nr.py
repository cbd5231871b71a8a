# SPDX-License-Identifier: Apache-2.0
"""Transport blocks in the form that Wireshark's dissector `mac_nr_udp` takes: a capture that
OpenAirInterface wrote (`--opt.type pcap --opt.path FILE`), one of what it sends to Wireshark, or
raw/mac.pcap.

Source: the framing of `packet-mac-nr.h` of Wireshark: `mac-nr`, three bytes of context, then tags
with values of known lengths; the block follows the last tag. OpenAirInterface writes each as UDP
over IPv4 (link type 228), with its clock at that moment, and states no HARQ process.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values
from ddu.readers.format import Format, LogClock
from ddu.readers.logs import LogTable, content_of, table_of
from ddu.readers.pcap import MAGICS, Pcap, Record

_FIRST = ("utc_ns", "mac_rnti", "rnti_type", "pdu_direction", "frame", "slot", "harq_process")
_START = b"mac-nr"
_DIRECTIONS = {0: "ul", 1: "dl"}
_RNTI_TYPES = {0: "none", 1: "P-RNTI", 2: "RA-RNTI", 3: "C-RNTI", 4: "SI-RNTI", 5: "CS-RNTI"}
_PAYLOAD = 1
_TAGS = {
    2: (">H", ("mac_rnti",)),
    3: (">H", ("ue_id",)),
    4: (">H", ()),  # frame and subframe, out of use
    5: (">B", ()),  # whether power headroom reports are of type 2
    6: (">B", ("harq_process",)),
    7: (">HH", ("frame", "slot")),
}
"""The value of each tag, in network order, and its columns."""

_ETHERNET, _RAW_IP, _IPV4, _UPPER_PDU = 1, 101, 228, 252
_UDP = 17
_CLOCK = LogClock(
    "the clock of the program that wrote each block, when it did so", 1_000_000,
    source="the blocks' writer",
)  # fmt: skip


HEAD_BYTES = 160
"""Headers of file, record, Ethernet, IP and UDP, or the tags of an exported PDU, end before."""


def is_mac_nr(head: bytes) -> bool:
    """Return whether a capture that begins so holds transport blocks."""
    return head[:4] in MAGICS and _START in head[:HEAD_BYTES]


def read_mac_nr(file: Path) -> LogTable:
    """Return a row for each transport block.

    Raises UnreadableInput when the file cannot be read, is not such a capture or holds no block.
    """
    content = content_of(file)
    if not Pcap.is_header_of(content):
        raise UnreadableInput(file, "not a capture (pcap) of transport blocks")
    capture = Pcap(content)
    link = capture.link_type
    if link not in (_ETHERNET, _RAW_IP, _IPV4, _UPPER_PDU):
        raise UnreadableInput(
            file, f"link type {link}", "capture Ethernet or IPv4, or let OpenAirInterface write it"
        )
    rows: list[Values] = []
    end = len(capture.header)
    for record in capture.records():
        end = record.end
        framed, whole_bytes = _payload(link, record)
        if framed.startswith(_START):
            row: Values = {"utc_ns": record.utc_ns}
            try:
                row.update(_block(framed, whole_bytes))
            except (struct.error, IndexError, KeyError):
                rule = f"the record at byte {record.at} has no context of a transport block"
                raise UnreadableInput(file, f"{rule} (mac-nr)") from None
            rows.append(row)
    if not rows:
        raise UnreadableInput(file, "a capture without transport blocks (mac-nr)")
    truncated_at = end if end < len(content) else None
    return LogTable(file, "mac-nr-pcap", table_of(rows, _FIRST), "", truncated_at)


def _payload(link: int, record: Record) -> tuple[bytes, int]:
    """Return what is kept of the UDP datagram or the exported PDU, and its whole length, which is
    more where the packet was cut or sent in fragments; nothing of other packets."""
    packet = record.packet
    if link == _UPPER_PDU:
        begin = _end_of_tags(packet)
        return packet[begin:], record.whole_bytes - begin
    if link == _ETHERNET and packet[12:14] == b"\x08\x00":
        packet = packet[14:]
    header_bytes = (packet[0] & 0xF) * 4 if packet else 0
    if len(packet) < header_bytes + 8 or packet[0] >> 4 != 4 or packet[9] != _UDP:
        return b"", 0
    length = int.from_bytes(packet[header_bytes + 4 : header_bytes + 6], "big")
    return packet[header_bytes + 8 : header_bytes + length], length - 8


def _end_of_tags(record: bytes) -> int:
    """Return where the PDU begins: behind a tag 0."""
    at = 0
    while at + 4 <= len(record):
        tag, length = struct.unpack_from(">HH", record, at)
        at += 4 + length
        if tag == 0:
            break
    return at


def _block(framed: bytes, whole_bytes: int) -> Iterator[tuple[str, int | str]]:
    """Yield a block's columns. Raises struct.error, IndexError or KeyError if it is damaged."""
    at = len(_START)
    _, direction, rnti_type = framed[at : at + 3]
    yield "pdu_direction", _DIRECTIONS[direction]
    yield "rnti_type", _RNTI_TYPES[rnti_type]
    at += 3
    while (tag := framed[at]) != _PAYLOAD:
        form, names = _TAGS[tag]
        yield from zip(names, struct.unpack_from(form, framed, at + 1), strict=False)
        at += 1 + struct.calcsize(form)
    yield "pdu_bytes", whole_bytes - at - 1


FORMATS = (
    Format(
        "mac-nr-pcap", lambda _, content: is_mac_nr(content), read_mac_nr, _CLOCK, "table",
        table="mac_pdus", file="oai/mac.pcap",
    ),
)  # fmt: skip
