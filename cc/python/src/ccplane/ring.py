# SPDX-License-Identifier: Apache-2.0
"""A ring buffer of a BPF program (BPF_MAP_TYPE_RINGBUF), mapped into memory."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator

_PAGE = mmap.PAGESIZE
_BUSY, _DISCARDED = 1 << 31, 1 << 30  # header of a record, include/uapi/linux/bpf.h
_HEADER_BYTES = 8
_U32, _U64 = struct.Struct("=I"), struct.Struct("=Q")


class Ring:
    """The records of a ring buffer, for the one process that takes them."""

    def __init__(self, descriptor: int, size: int) -> None:
        """Map the ring buffer, whose data take `size` bytes."""
        both = mmap.PROT_READ | mmap.PROT_WRITE
        self._size = size
        self._consumer = mmap.mmap(descriptor, _PAGE, mmap.MAP_SHARED, both)
        # The data are mapped twice, one after the other, so that no record is in two parts.
        length = _PAGE + 2 * size
        self._producer = mmap.mmap(
            descriptor, length, mmap.MAP_SHARED, mmap.PROT_READ, offset=_PAGE
        )

    def records(self) -> Iterator[bytes]:
        """Take the records that there are."""
        (at,) = _U64.unpack_from(self._consumer)
        while at < _U64.unpack_from(self._producer)[0]:
            start = _PAGE + at % self._size
            (header,) = _U32.unpack_from(self._producer, start)
            if header & _BUSY:
                return
            length = header & ~_DISCARDED
            start += _HEADER_BYTES
            content = self._producer[start : start + length]
            at += (_HEADER_BYTES + length + 7) // 8 * 8
            _U64.pack_into(self._consumer, 0, at)
            if not header & _DISCARDED:
                yield content
