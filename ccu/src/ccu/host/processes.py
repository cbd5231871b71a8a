# SPDX-License-Identifier: Apache-2.0
"""Processes: their identity, since a pid alone may have been reused, and how they are ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)


class Identity(NamedTuple):
    """A pid with its start in clock ticks since boot (proc(5), stat field 22)."""

    pid: int
    start_ticks: int


def identify(pid: int) -> Identity | None:
    """Return the process that has `pid` now; None if there is none, or only a zombie.

    Raises OSError where that cannot be known: a process that lives is never taken for gone.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Identity(pid, int(fields[19]))


def alive(who: Identity) -> bool:
    return identify(who.pid) == who


def end(processes: list[Identity], patience_s: float = 3.0) -> None:
    """End processes by SIGTERM, then by SIGKILL; wait for `patience_s` at most after each."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        for who in filter(alive, processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(who.pid, sent)
        deadline = time.monotonic() + patience_s
        while any(map(alive, processes)) and time.monotonic() < deadline:
            time.sleep(0.02)


def ending_text(code: int) -> str:
    """Return how a program ended, as the predicate of a sentence; codes below 0 are signals
    (`Popen.returncode`)."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


@dataclass(frozen=True)
class StartedProcess:
    """A program that ccu started, registered once its pid is known. If ccu is killed before that,
    the kernel ends the program (`end_with_parent`)."""

    kind: ClassVar[str] = "process"
    name: str
    pid: int
    start_ticks: int

    def remove(self) -> list[str]:
        who = Identity(self.pid, self.start_ticks)
        if not alive(who):
            return []
        end([who])
        return [f"ended process {self.pid} ({self.name})"]


def end_with_parent(sent: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """Return a `preexec_fn`: the child gets the signal when the thread that starts it ends
    (prctl(2))."""
    return partial(end_with, os.getpid(), sent)


def end_with(parent: int, sent: signal.Signals = signal.SIGTERM) -> None:
    """Ask the kernel to end this process with its parent, process `parent`, by the signal."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(sent))
    if os.getppid() != parent:  # The parent ended before the call.
        os._exit(1)
