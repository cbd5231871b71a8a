# SPDX-License-Identifier: Apache-2.0
"""Who a process is: a pid alone may have been given to another since."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)


class Identity(NamedTuple):
    """A pid with its start in clock ticks since boot (proc(5), stat field 22)."""

    pid: int
    start_ticks: int


def identify(pid: int) -> Identity | None:
    """The process that has `pid` now; None if there is none, or only its exit status."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Identity(pid, int(fields[19]))


def alive(who: Identity) -> bool:
    return identify(who.pid) == who


def end(processes: list[Identity], patience_s: float = 3.0) -> None:
    """SIGTERM, and SIGKILL for those that stay."""
    for sent, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, patience_s)):
        for who in filter(alive, processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(who.pid, sent)
        deadline = time.monotonic() + wait_s
        while any(map(alive, processes)) and time.monotonic() < deadline:
            time.sleep(0.02)


@dataclass(frozen=True)
class StartedProcess:
    """A program that ccu started. Registered once its pid is known; if ccu is killed before that,
    the kernel ends the program (`dying_with_us`)."""

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


def dying_with_us() -> Callable[[], None]:
    """For `preexec_fn`: the child gets SIGTERM when the thread that starts it ends (prctl(2))."""
    parent = os.getpid()

    def ask_for_signal() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # It ended before we asked.
            os._exit(1)

    return ask_for_signal
