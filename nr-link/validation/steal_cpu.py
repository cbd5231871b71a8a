#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a command while a share of every core is taken away, as a busy host takes it from a guest.

Usage: sudo nr-link/validation/steal_cpu.py PERCENT COMMAND [ARGUMENT…]

On each core a process of real-time priority, above that of the link, computes in bursts of
exponential length (2 ms on average) with exponential pauses, so that it has PERCENT of the core.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

_BURST_S = 0.002
_PRIORITY = 60


def steal(core: int, share: float) -> None:
    """Take `share` of the core, until killed."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    drawn = random.Random(core)
    while True:
        until = time.monotonic() + drawn.expovariate(1 / _BURST_S)
        while time.monotonic() < until:
            pass
        time.sleep(drawn.expovariate(share / (1 - share) / _BURST_S))


def thieves(share: float) -> list[int]:
    """Start one thief on each core; return their process identifiers."""
    started = []
    for core in sorted(os.sched_getaffinity(0)):
        if child := os.fork():
            started.append(child)
        else:
            steal(core, share)
    return started


def main() -> int:
    share = float(sys.argv[1]) / 100
    if not 0 <= share < 0.9:
        sys.exit(f"PERCENT: {sys.argv[1]} is not from 0 to 90.")
    children = thieves(share) if share else []
    try:
        return subprocess.call(sys.argv[2:])
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main())
