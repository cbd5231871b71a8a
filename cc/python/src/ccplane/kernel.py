# SPDX-License-Identifier: Apache-2.0
"""The ways to what a policy controls: maps of the BPF program, files of the kernel in virtual time,
and pipes of a program that sends by itself."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ccplane.abi import COMMAND, COMMANDS_BYTES, REPORT, RING_BYTES, Report
from ccplane.ring import Ring

_LOOK_AGAIN_MS = 10  # The kernel wakes a sleeper once; what came meanwhile is found so.


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
        self._ring = Ring(reports, RING_BYTES)
        both = mmap.PROT_READ | mmap.PROT_WRITE
        self._commands = mmap.mmap(commands, COMMANDS_BYTES, mmap.MAP_SHARED, both)
        self._poll = select.poll()
        self._poll.register(reports, select.POLLIN)

    def reports(self) -> Iterator[Report]:
        self._poll.poll(_LOOK_AGAIN_MS)
        return (Report._make(REPORT.unpack(one)) for one in self._ring.records())

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


class Pipes:
    """Two pipes of a program that sends one flow (ccu/quic-flow): it closes its own at the end."""

    _MOST = 64

    def __init__(self, reports: int, commands: int) -> None:
        """Take the descriptors of both pipes."""
        self._reports, self._commands = reports, commands

    def reports(self) -> Iterator[Report]:
        content = os.read(self._reports, self._MOST * REPORT.size)
        if not content:
            signal.raise_signal(signal.SIGTERM)
        yield from (Report._make(one) for one in REPORT.iter_unpack(content))

    def command(self, index: int, command: bytes) -> None:  # noqa: ARG002
        # The program may end before it has read the answer to its last report.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._commands, command)
