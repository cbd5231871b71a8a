#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare real time with virtual time over the runs of the campaign real-time.yaml.

Usage: nr-link/validation/real_time.py CAMPAIGN-DIRECTORY…
       after `ccu campaign run nr-link/validation/real-time.yaml --profile full`

Prints a Markdown table with a row for each point, from the runs in real time that are valid and
those with the same seeds in virtual time, whose traffic is iperf3's as well.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from campaign_runs import VIRTUAL, Measured, Point, change, runs
from scipy import stats


def spread(values: list[float]) -> str:
    """Return the standard deviation in percent of the mean."""
    return f"{100 * np.std(values, ddof=1) / np.mean(values):.1f}" if len(values) > 1 else ""


def row(point: Point, pairs: list[tuple[Measured, Measured]]) -> str:
    """Return a row of the table from pairs of a run in virtual and one in real time."""
    virtual, real = ([pair[side] for pair in pairs] for side in (0, 1))
    distance = stats.ks_2samp(
        np.concatenate([one.rtts_ms for one in virtual]),
        np.concatenate([one.rtts_ms for one in real]),
    ).statistic
    fields = [
        *point,
        str(len(pairs)),
        f"{np.mean([one.throughput_bps for one in virtual]) / 1e6:.2f}",
        change([b.throughput_bps / a.throughput_bps - 1 for a, b in pairs]),
        f"{np.mean([one.rtt_mean_ms for one in virtual]):.2f}",
        spread([one.rtt_mean_ms for one in virtual]),
        change([b.rtt_mean_ms / a.rtt_mean_ms - 1 for a, b in pairs]),
        change([b.rtt_p95_ms / a.rtt_p95_ms - 1 for a, b in pairs]),
        f"{distance:.3f}",
    ]
    return f"| {' | '.join(fields)} |"


def main() -> None:
    by_testbed = defaultdict(list)
    for run in runs([Path(argument) for argument in sys.argv[1:]]):
        by_testbed[run.testbed].append(run)
    valid = [run for run in by_testbed["emulated"] if run.verdict == "valid"]
    print(f"{len(valid)} of {len(by_testbed['emulated'])} runs in real time are valid.\n")
    same = {(run.point, run.seed): run for run in by_testbed[VIRTUAL]}
    pairs = defaultdict(list)
    for run in valid:
        if twin := same.get((run.point, run.seed)):
            pairs[run.point].append((twin.measured, run.measured))
    print(
        "| direction | PRB | scenario | cc | pairs | virtual, Mbit/s | throughput, % "
        "| virtual, RTT ms | its spread over seeds, % | mean RTT, % | p95 RTT, % | KS distance |"
    )
    print(f"|{'---|' * 12}")
    for point, of_point in sorted(pairs.items()):
        print(row(point, of_point))


if __name__ == "__main__":
    main()
