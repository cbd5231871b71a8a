# SPDX-License-Identifier: Apache-2.0
"""The radio's time for what was captured in wall time, slot by slot: by tcpdump on N3, and by the
gNB's MAC."""

from __future__ import annotations

import csv
from bisect import bisect
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ccu.testbeds.oai.lockstep.radio import SLOT_S
from ddu.readers.pcap import Pcap

_SLOT_NS = round(SLOT_S * 1e9)


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
    if not Pcap.is_header_of(content):
        return 0
    read = Pcap(content)
    kept = [
        read.written(record, utc_ns)
        for record in read.records()
        if (utc_ns := radio_ns(record.utc_ns)) is not None
    ]
    capture.write_bytes(read.header + b"".join(kept))
    return len(kept)
