# SPDX-License-Identifier: Apache-2.0
"""The calls that can fail, and the memory through which the shim learns which one is to fail."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

KILL = "kill"
POWER = "power"
"""A loss of power after a rename: what is not on disk by then is lost."""


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
    LOOK = 256
    """An open below /proc or /sys: how many there are depends on the machine and its speed."""


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
    Kind.LOOK: (errno.EMFILE, errno.EIO),
}
"""The errors of a call, of which each number of a call gets one in turn."""


@dataclass(frozen=True)
class Fault:
    """One call that fails: the `number`-th of its kind in a command, from 1."""

    kind: str
    """The name of a Kind, KILL or POWER."""
    number: int

    @property
    def kinds(self) -> Kind:
        return {KILL: CHANGING, POWER: Kind.RENAME}.get(self.kind) or Kind[self.kind]

    @property
    def error(self) -> int:
        """Return the number of the error; of KILL and POWER, what the shim knows them by."""
        if self.ends:
            return 0 if self.kind == KILL else -1
        errors = ERRORS[Kind[self.kind]]
        return errors[self.number % len(errors)]

    @property
    def ends(self) -> bool:
        """Return whether the fault is the end of the command."""
        return self.kind in (KILL, POWER)

    def __str__(self) -> str:
        what = "killed" if self.ends else errno.errorcode[self.error]
        return f"{self.kind.lower()} {self.number} {what}"


class Shared:
    """The shim's `struct state`, which all processes of a command map."""

    _FORM = struct.Struct("IiqqIi9q")
    _UNSYNCED = 65521
    _SIZE = _FORM.size + _UNSYNCED

    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), self._SIZE)

    @classmethod
    def make(cls, file: Path) -> None:
        """Make the file, in which no fault is due."""
        file.write_bytes(bytes(cls._SIZE + 8))

    def arm(self, fault: Fault) -> None:
        """Let this process, and those that it starts, meet the fault."""
        self._memory[:] = bytes(self._SIZE)
        self._set(fault.kinds, fault.error, fault.number)
        ctypes.CDLL(None).faults_take_part()

    def disarm(self) -> tuple[dict[Kind, int], bool]:
        """Return how many calls of each kind there were, and whether the fault was met."""
        _, _, _, _, fired, _, *counts = self._FORM.unpack_from(self._memory)
        self._set(0, 0, 0)
        return dict(zip(Kind, counts, strict=True)), bool(fired)

    def lose_unsynced(self, folder: Path) -> None:
        """Empty the files below that were not on disk when the command ended."""
        unsynced = self._memory[self._FORM.size :]
        for file in filter(Path.is_file, folder.rglob("*")):
            if unsynced[file.stat().st_ino % self._UNSYNCED]:
                os.truncate(file, 0)

    def _set(self, kinds: int, error: int, number: int) -> None:
        self._FORM.pack_into(self._memory, 0, kinds, error, number, *bytes(12))
