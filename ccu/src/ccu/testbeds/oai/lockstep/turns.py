# SPDX-License-Identifier: Apache-2.0
"""Priority for those that take turns in lockstep: modems, radio and hosts.

Each of them sleeps until another has finished, dozens of times a slot, and works for microseconds.
On a busy machine a turn costs the time slices of other programs: with two cores and a load of 20, a
radio that ran at 0.01 of real time ran at 0.25 with priority.
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
    before = os.getpriority(os.PRIO_PROCESS, 0)
    _prefer(0)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


def prefer(processes: Sequence[int]) -> None:
    """Have processes, their threads and all that they have started go first."""
    pids = list(processes)
    for one in pids:
        with contextlib.suppress(OSError):  # It has ended.
            for task in Path(f"/proc/{one}/task").iterdir():
                _prefer(int(task.name))
                pids += map(int, (task / "children").read_text().split())


def _prefer(thread: int) -> None:
    # Where this is refused, the run only takes longer.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, _NICE)
