# SPDX-License-Identifier: Apache-2.0
"""The radio's time for what was captured in wall time, slot by slot: by tcpdump on N3, and by the
gNB's MAC."""

from __future__ import annotations

import csv
import struct
from bisect import bisect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ccu.testbeds.oai.lockstep.radio import SLOT_S

_SLOT_NS = round(SLOT_S * 1e9)
_SECOND_NS = 10**9
# The formats of pcap(5), in this machine's byte order; the first number states the unit of times.
_FILE_HEADER_BYTES = 24
_MAGIC, _NANOSECONDS = struct.Struct("=I"), 0xA1B23C4D
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

    def passing_ns(self, wall_ns: int) -> int:
        """Return the radio's time; before its first slot and after its last one, it passes as wall
        time."""
        if (utc_ns := self.radio_ns(wall_ns)) is not None:
            return utc_ns
        end = 0 if wall_ns < self.wall_ns[0] else -1
        return self.utc_ns[end] + wall_ns - self.wall_ns[end]


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


def restamp(capture: Path, radio_ns: Callable[[int], int | None]) -> int:
    """Give the packets of a capture the radio's time, and leave out those that have none; return
    how many are left."""
    content = capture.read_bytes()
    count = 0
    with capture.open("wb") as kept:
        kept.write(content[:_FILE_HEADER_BYTES])
        unit_ns = _unit_ns(content)
        for wall_ns, lengths, packet in _packets(content, unit_ns):
            if (utc_ns := radio_ns(wall_ns)) is not None:
                seconds, rest_ns = divmod(utc_ns, _SECOND_NS)
                kept.write(_PACKET_HEADER.pack(seconds, rest_ns // unit_ns, *lengths) + packet)
                count += 1
    return count


def _unit_ns(content: bytes) -> int:
    """Return the unit of a capture's times below a second."""
    return 1 if content.startswith(_MAGIC.pack(_NANOSECONDS)) else 1000


def _packets(content: bytes, unit_ns: int) -> Iterator[tuple[int, tuple[int, int], bytes]]:
    """Yield time, captured and whole length, and bytes of each packet of a capture."""
    at = _FILE_HEADER_BYTES
    while at + _PACKET_HEADER.size <= len(content):
        seconds, fraction, captured, whole = _PACKET_HEADER.unpack_from(content, at)
        wall_ns = seconds * _SECOND_NS + fraction * unit_ns
        at += _PACKET_HEADER.size
        yield wall_ns, (captured, whole), content[at : at + captured]
        at += captured
