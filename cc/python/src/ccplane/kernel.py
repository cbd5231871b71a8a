# SPDX-License-Identifier: Apache-2.0
"""The two ways to the kernel: maps of the BPF program, files of the kernel in virtual time."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ccplane.abi import COMMAND, COMMANDS_BYTES, REPORT, RING_BYTES, Report

_PAGE = mmap.PAGESIZE
_LOOK_AGAIN_MS = 10  # The kernel wakes a sleeper once; what came meanwhile is found so.
_BUSY, _DISCARDED = 1 << 31, 1 << 30  # header of a record, include/uapi/linux/bpf.h
_HEADER_BYTES = 8
_U32, _U64 = struct.Struct("=I"), struct.Struct("=Q")


class Kernel(Protocol):
    """The source of reports and the target of commands."""

    def reports(self) -> Iterator[Report]:
        """Yield the reports that there are; wait for one first if there is none."""
        ...

    def command(self, index: int, command: bytes) -> None:
        """Have the flow of that index obey."""
        ...


class Maps:
    """A ring buffer and an array of the BPF program plane.bpf.c, both mapped into memory."""

    def __init__(self, reports: int, commands: int) -> None:
        """Take the descriptors of both maps."""
        both = mmap.PROT_READ | mmap.PROT_WRITE
        self._consumer = mmap.mmap(reports, _PAGE, mmap.MAP_SHARED, both)
        # The data are mapped twice, one after the other, so that no record is in two parts.
        length = _PAGE + 2 * RING_BYTES
        self._producer = mmap.mmap(reports, length, mmap.MAP_SHARED, mmap.PROT_READ, offset=_PAGE)
        self._commands = mmap.mmap(commands, COMMANDS_BYTES, mmap.MAP_SHARED, both)
        self._poll = select.poll()
        self._poll.register(reports, select.POLLIN)

    def reports(self) -> Iterator[Report]:
        self._poll.poll(_LOOK_AGAIN_MS)
        (at,) = _U64.unpack_from(self._consumer)
        while at < _U64.unpack_from(self._producer)[0]:
            place = _PAGE + at % RING_BYTES
            (header,) = _U32.unpack_from(self._producer, place)
            if header & _BUSY:
                return
            content = None
            if not header & _DISCARDED:
                content = Report._make(REPORT.unpack_from(self._producer, place + _HEADER_BYTES))
            at += _HEADER_BYTES + REPORT.size
            _U64.pack_into(self._consumer, 0, at)
            if content:
                yield content

    def command(self, index: int, command: bytes) -> None:
        place = index * COMMAND.size
        # The sequence last: another one says that the rest is there. x86 keeps the order of writes.
        self._commands[place + 8 : place + COMMAND.size] = command[8:]
        self._commands[place : place + 8] = command[:8]


class Files:
    """The files of a folder /proc/nr-link/plane-NAME (nr-link/virtual/driver/plane.c)."""

    _MOST = 64

    def __init__(self, folder: Path) -> None:
        self._reports = os.open(folder / "reports", os.O_RDONLY)
        self._commands = os.open(folder / "commands", os.O_WRONLY)

    def reports(self) -> Iterator[Report]:
        with contextlib.suppress(InterruptedError):
            content = os.read(self._reports, self._MOST * REPORT.size)
            yield from (Report._make(one) for one in REPORT.iter_unpack(content))

    def command(self, index: int, command: bytes) -> None:
        os.pwrite(self._commands, command, index * COMMAND.size)
