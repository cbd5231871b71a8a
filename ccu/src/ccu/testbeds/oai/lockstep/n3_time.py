# SPDX-License-Identifier: Apache-2.0
"""The radio's time for what tcpdump has captured on N3 in wall time, slot by slot."""

from __future__ import annotations

import csv
import struct
from bisect import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ccu.testbeds.oai.lockstep.radio import SLOT_S

_SLOT_NS = round(SLOT_S * 1e9)
_SECOND_NS = 10**9
# The formats of pcap(5) with nanoseconds, which tcpdump writes in this machine's byte order.
_FILE_HEADER_BYTES = 24
_PACKET_HEADER = struct.Struct("=IIII")


class Slots(NamedTuple):
    """The wall times at which packets of a slot enter the radio, and at which they come out."""

    wall_ns: list[int]
    """In order: packets of a slot begin to enter, and it begins; those of the next; the end."""
    utc_ns: list[int]
    """The radio's time from each of these on."""

    def radio_ns(self, wall_ns: int) -> int | None:
        """Return the radio's time; None before its first slot and after its last one."""
        after = bisect(self.wall_ns, wall_ns)
        return self.utc_ns[after - 1] if 0 < after < len(self.wall_ns) else None


def read_slots(file: Path) -> Slots:
    """Read the record of `nr-link radio --slot-record`."""
    slots = Slots([], [])
    ended = 0
    with file.open(newline="") as text:
        for row in csv.DictReader(text):
            begins_ns, ended = int(row["utc_ns"]), int(row["ended_wall_utc_ns"])
            slots.wall_ns.extend((int(row["entering_wall_utc_ns"]), int(row["begun_wall_utc_ns"])))
            # What comes out of the radio does so at the end of a slot.
            slots.utc_ns.extend((begins_ns, begins_ns + _SLOT_NS))
    slots.wall_ns.append(ended)
    return slots


def restamp(capture: Path, slots: Slots) -> int:
    """Give the packets of a capture the radio's time, and leave out those outside of it; return how
    many are left."""
    content = capture.read_bytes()
    kept = bytearray(content[:_FILE_HEADER_BYTES])
    count = 0
    for wall_ns, lengths, packet in _packets(content):
        if (utc_ns := slots.radio_ns(wall_ns)) is not None:
            kept += _PACKET_HEADER.pack(*divmod(utc_ns, _SECOND_NS), *lengths) + packet
            count += 1
    capture.write_bytes(kept)
    return count


def _packets(content: bytes) -> Iterator[tuple[int, tuple[int, int], bytes]]:
    """Yield time, captured and whole length, and bytes of each packet of a capture."""
    at = _FILE_HEADER_BYTES
    while at + _PACKET_HEADER.size <= len(content):
        seconds, nanoseconds, captured, whole = _PACKET_HEADER.unpack_from(content, at)
        at += _PACKET_HEADER.size
        yield seconds * _SECOND_NS + nanoseconds, (captured, whole), content[at : at + captured]
        at += captured
