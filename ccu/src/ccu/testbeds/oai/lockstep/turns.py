# SPDX-License-Identifier: Apache-2.0
"""Priority for those that take turns in lockstep: modems, radio and hosts.

Each of them sleeps until another has finished, dozens of times a slot, and works for microseconds.
On a busy machine a turn costs the time slices of other programs: with two cores and a load of 20, a
radio that ran at 0.01 of real time ran at 0.25 with priority. If ccu was started with nice(1), all
have that instead.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

_NICE = -10


@contextlib.contextmanager
def first() -> Iterator[None]:
    """Have this process and all that it starts go first, for the time of the context."""
    before = _own()
    if before > 0:
        yield
        return
    _set(0, _NICE)
    try:
        yield
    finally:
        _set(0, before)


def prefer(processes: Sequence[int]) -> None:
    """Give processes, their threads and all that they have started this process's priority."""
    own = _own()
    pids = list(processes)
    for one in pids:
        with contextlib.suppress(OSError):  # It has ended.
            for task in Path(f"/proc/{one}/task").iterdir():
                _set(int(task.name), own)
                pids += map(int, (task / "children").read_text().split())


def _own() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def _set(thread: int, niceness: int) -> None:
    # Where this is refused, the run only takes longer.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
