# SPDX-License-Identifier: Apache-2.0
"""Reading a ring buffer whose memory is a file here."""

from __future__ import annotations

import mmap
import os
import struct

from ccplane.ring import Ring

PAGE = mmap.PAGESIZE
BUSY, DISCARDED = 1 << 31, 1 << 30


class Memory:
    """A ring buffer's pages: the consumer's position, the producer's, the data twice."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("ring")
        os.truncate(self.descriptor, 2 * PAGE + 2 * PAGE)
        self._end = 0

    def add(self, content: bytes, flags: int = 0) -> None:
        """Append a record, as the kernel does."""
        record = struct.pack("=II", len(content) | flags, 0) + content
        for copy in (0, PAGE):
            for at, byte in enumerate(record):
                start = self._end % PAGE + copy + at
                if start < 2 * PAGE:
                    os.pwrite(self.descriptor, bytes([byte]), 2 * PAGE + start)
        self._end += (len(record) + 7) // 8 * 8
        os.pwrite(self.descriptor, struct.pack("=Q", self._end), PAGE)

    @property
    def consumed(self) -> int:
        position: int = struct.unpack("=Q", os.pread(self.descriptor, 8, 0))[0]
        return position


def test_records_are_taken_in_order_and_discarded_ones_left_out() -> None:
    memory = Memory()
    ring = Ring(memory.descriptor, PAGE)
    memory.add(b"first")
    memory.add(b"dropped", DISCARDED)
    memory.add(b"second record")
    assert list(ring.records()) == [b"first", b"second record"]
    assert memory.consumed == 16 + 16 + 24
    assert list(ring.records()) == []


def test_a_record_that_is_being_written_ends_the_batch() -> None:
    memory = Memory()
    ring = Ring(memory.descriptor, PAGE)
    memory.add(b"ready")
    memory.add(b"writing", BUSY)
    assert list(ring.records()) == [b"ready"]
    assert memory.consumed == 16


def test_a_record_across_the_end_is_whole() -> None:
    memory = Memory()
    ring = Ring(memory.descriptor, PAGE)
    memory.add(bytes(PAGE - 32))
    assert len(list(ring.records())) == 1
    memory.add(b"over the end of the memory")
    assert list(ring.records()) == [b"over the end of the memory"]
