# SPDX-License-Identifier: Apache-2.0
"""The calls that can fail, and the memory through which the shim learns which one is to fail."""

from __future__ import annotations

import errno
import mmap
import struct
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

KILL = "kill"


class Kind(IntFlag):
    """Bits of the shim's `kinds`."""

    WRITE = 1
    FSYNC = 2
    RENAME = 4
    MKDIR = 8
    OPEN = 16
    REMOVE = 32
    SEND = 64
    MEMORY = 128


CHANGING = Kind.WRITE | Kind.FSYNC | Kind.RENAME | Kind.MKDIR | Kind.REMOVE | Kind.SEND
"""The calls at which a command is killed: between them nothing outside of it changes."""

ERRORS = {
    Kind.WRITE: (errno.ENOSPC, errno.EIO),
    Kind.FSYNC: (errno.EIO, errno.ENOSPC),
    Kind.RENAME: (errno.ENOSPC, errno.EIO),
    Kind.MKDIR: (errno.ENOSPC, errno.EIO),
    Kind.OPEN: (errno.EMFILE, errno.EIO),
    Kind.REMOVE: (errno.EIO,),
    Kind.SEND: (errno.EPIPE,),
    Kind.MEMORY: (errno.ENOMEM,),
}
"""The errors of a call, of which each number of a call gets one in turn."""


@dataclass(frozen=True)
class Fault:
    """One call that fails: the `number`-th of its kind in a command, from 1."""

    kind: str
    """The name of a Kind, or KILL."""
    number: int

    @property
    def kinds(self) -> Kind:
        return CHANGING if self.kind == KILL else Kind[self.kind]

    @property
    def error(self) -> int:
        """Return the number of the error; 0: the process is killed."""
        if self.kind == KILL:
            return 0
        errors = ERRORS[Kind[self.kind]]
        return errors[self.number % len(errors)]

    def __str__(self) -> str:
        what = "killed" if self.kind == KILL else errno.errorcode[self.error]
        return f"{self.kind.lower()} {self.number} {what}"


class Shared:
    """The shim's `struct state`, which all processes of a command map."""

    _FORM = struct.Struct("IiqqI4x")

    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), self._FORM.size)

    @classmethod
    def make(cls, file: Path) -> None:
        """Make the file, in which no fault is due."""
        file.write_bytes(bytes(cls._FORM.size))

    def arm(self, fault: Fault) -> None:
        self._memory[:] = self._FORM.pack(0, 0, 0, 0, 0)
        self._memory[:] = self._FORM.pack(fault.kinds, fault.error, fault.number, 0, 0)

    def disarm(self) -> tuple[int, bool]:
        """Return how many calls there were, and whether the fault was met."""
        _, _, _, count, fired = self._FORM.unpack(self._memory[:])
        self._memory[:] = self._FORM.pack(0, 0, 0, 0, 0)
        return count, bool(fired)
