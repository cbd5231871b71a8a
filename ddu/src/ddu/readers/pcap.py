# SPDX-License-Identifier: Apache-2.0
"""The records of a small capture in the format of pcap(5), in either byte order.

Captures of traffic are read by `ddu.readers.packets`, which decodes their packets as well.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

MAGICS = {
    magic.to_bytes(4, order): ("<" if order == "little" else ">", unit_ns)
    for magic, unit_ns in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1))
    for order in ("little", "big")
}
"""The byte order of a capture that begins so, and the unit of its times below a second."""
_HEADER_BYTES, _RECORD_BYTES = 24, 16
_SECOND_NS = 10**9


class Record(NamedTuple):
    """A packet, or as much of it as was kept."""

    at: int
    """The byte at which its header begins."""
    utc_ns: int
    whole_bytes: int
    """Its length before it was cut to what was kept."""
    packet: bytes

    @property
    def end(self) -> int:
        return self.at + _RECORD_BYTES + len(self.packet)


@dataclass(frozen=True)
class Pcap:
    """A capture as it is on disk."""

    content: bytes

    @staticmethod
    def is_header_of(content: bytes) -> bool:
        """Return whether a file that begins so is such a capture."""
        return content[:4] in MAGICS and len(content) >= _HEADER_BYTES

    @property
    def header(self) -> bytes:
        return self.content[:_HEADER_BYTES]

    @property
    def link_type(self) -> int:
        """The link-layer type of its packets (https://www.tcpdump.org/linktypes.html)."""
        order, _ = MAGICS[self.content[:4]]
        return int(struct.unpack_from(f"{order}I", self.content, 20)[0]) & 0xFFFF

    @cached_property
    def _form(self) -> tuple[struct.Struct, int]:
        """The header of a record, and the unit of its time below a second."""
        order, unit_ns = MAGICS[self.content[:4]]
        return struct.Struct(f"{order}IIII"), unit_ns

    def records(self) -> Iterator[Record]:
        """Yield the whole records; a last one that is cut off is left out."""
        header, unit_ns = self._form
        at = _HEADER_BYTES
        while at + _RECORD_BYTES <= len(self.content):
            seconds, fraction, kept, whole = header.unpack_from(self.content, at)
            begin, end = at + _RECORD_BYTES, at + _RECORD_BYTES + kept
            if end > len(self.content):
                return
            utc_ns = seconds * _SECOND_NS + fraction * unit_ns
            yield Record(at, utc_ns, whole, self.content[begin:end])
            at = end

    def written(self, record: Record, utc_ns: int) -> bytes:
        """Return the record with another time."""
        header, unit_ns = self._form
        seconds, rest_ns = divmod(utc_ns, _SECOND_NS)
        lengths = (len(record.packet), record.whole_bytes)
        return header.pack(seconds, rest_ns // unit_ns, *lengths) + record.packet
