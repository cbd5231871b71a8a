#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what lateness costs: real time under theft of CPU, against virtual time.

Usage (root): nr-link/validation/lateness.py DIRECTORY [SEEDS]

Each run of the emulated testbed shares its cores with a competitor that takes a share of every core
in bursts, at a priority above all others, as a hypervisor does. The same experiment in virtual time
is the truth. Run directories go to DIRECTORY; prints a Markdown table with a row for each run.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ddu import open_run

_CCU = Path(__file__).resolve().parents[2] / ".venv/bin/ccu"
_DURATION_S = 10
_SHARES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
# Burst lengths that schedulers of virtual machines take a core away for.
_MEAN_BURSTS_MS = (1.0, 5.0)
_CCS = ("cubic", "bbr", "reminis")
# Above nr-link's (10) and the kernel's own threads (50).
_PRIORITY = 60


def steal(core: int, share: float, mean_burst_ms: float, seed: int) -> None:
    """Take `share` of `core` in bursts of exponential length, until killed."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    draws = random.Random(seed * 1000 + core)
    while True:
        burst_s = draws.expovariate(1e3 / mean_burst_ms)
        until = time.monotonic() + burst_s
        while time.monotonic() < until:
            pass
        time.sleep(draws.expovariate(share / (1 - share) / (mean_burst_ms / 1e3)))


@contextmanager
def thieves(share: float, mean_burst_ms: float, seed: int) -> Iterator[None]:
    """Steal from every core that this process may use."""
    pids = []
    try:
        for core in os.sched_getaffinity(0) if share else ():
            if (pid := os.fork()) == 0:
                steal(core, share, mean_burst_ms, seed)
            pids.append(pid)
        yield
    finally:
        for pid in pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def run(testbed: str, cc: str, seed: int, folder: Path) -> dict[str, Any] | None:
    """Run and analyse an experiment; return its summary, None if the run failed."""
    command = [_CCU, "run", "--testbed", testbed, "--cc", cc, "--dl", "--prb", "106"]
    command += ["--duration", f"{_DURATION_S}s", "--seed", str(seed), "--output", folder]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = sorted(folder.glob("*/run.json"))
    if not found:
        print(done.stderr, file=sys.stderr)
        return None
    summary = open_run(found[-1].parent).summary
    link = found[-1].parent / "raw/link-summary.json"
    return {**summary, "link": json.loads(link.read_text())}


def row(cc: str, seed: int, share: float, burst_ms: float, folder: Path, truth: Any) -> str:
    with thieves(share, burst_ms, seed):
        found = run("emulated", cc, seed, folder / f"{cc}-{seed}-{share}-{burst_ms}")
    if found is None:
        return f"| {cc} | {seed} | {share:.1%} | {burst_ms:g} | failed | | | | | | |"
    link = found["link"]
    changes = [
        f"{100 * (found['throughput_bps'] / truth['throughput_bps'] - 1):+.2f}",
        f"{100 * (found['rtt_ms']['mean'] / truth['rtt_ms']['mean'] - 1):+.2f}",
        f"{100 * (found['rtt_ms']['p95'] / truth['rtt_ms']['p95'] - 1):+.2f}",
        f"{found['retransmissions_count'] - truth['retransmissions_count']:+d}",
    ]
    late = f"{100 * link['overrun_count'] / link['slots']:.3f}"
    return (
        f"| {cc} | {seed} | {share:.1%} | {burst_ms:g} | {found['verdict']} | {late} "
        f"| {link['lateness_p99_us']:.0f} | {' | '.join(changes)} |"
    )


def main() -> None:
    folder = Path(sys.argv[1])
    seeds = range(1, 1 + int(sys.argv[2]) if len(sys.argv) > 2 else 4)
    print(
        "| cc | seed | share stolen | mean burst, ms | verdict | late slots, % | p99 lateness, µs "
        "| throughput, % | mean RTT, % | p95 RTT, % | retransmissions |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for seed in seeds:
        for cc in _CCS:
            truth = run("virtual", cc, seed, folder / f"{cc}-{seed}-virtual")
            for share in _SHARES:
                for burst_ms in _MEAN_BURSTS_MS if share else _MEAN_BURSTS_MS[:1]:
                    print(row(cc, seed, share, burst_ms, folder, truth), flush=True)


if __name__ == "__main__":
    main()
