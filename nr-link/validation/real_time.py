#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare real time with virtual time over the runs of the campaign real-time.yaml.

Usage: nr-link/validation/real_time.py CAMPAIGN-DIRECTORY
       after `ccu campaign run nr-link/validation/real-time.yaml --profile full`

Prints a Markdown table with a row for each point, from the pairs of runs with equal seeds whose
real-time half is valid.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from ddu import open_run

Point = tuple[str, ...]
_FACTORS = ("direction", "prb", "scenario", "cc")


@dataclass(frozen=True)
class Measured:
    """The numbers of a run that are compared."""

    throughput_mbps: float
    rtt_mean_ms: float
    rtt_p95_ms: float
    rtts_ms: npt.NDArray[np.float64]
    """One mean for each bin of the aligned table that has an RTT."""


def measured(run: Path) -> Measured:
    """Return the numbers of the run in directory `run`; it is analysed if it was not."""
    opened = open_run(run)
    rtt = opened.summary["rtt_ms"]
    rtts = opened.aligned["tcp_rtt_ms"].dropna().to_numpy(dtype=np.float64)
    return Measured(opened.summary["throughput_bps"] / 1e6, rtt["mean"], rtt["p95"], rtts)


def runs(campaign: Path) -> Iterator[tuple[Point, int, str, Path, bool]]:
    """Yield point, seed, testbed, directory and whether it is valid, of every complete run."""
    for file in sorted(campaign.glob("runs/*/cell.json")):
        cell = json.loads(file.read_text())
        point = tuple(str(cell["levels"][factor]) for factor in _FACTORS)
        for record in sorted(file.parent.glob("*/run.json")):
            verdict = json.loads(record.read_text()).get("verdict")
            if verdict is not None:
                testbed = cell["levels"]["testbed"]
                yield point, cell["seed"], testbed, record.parent, verdict == "valid"


def change(values: list[float]) -> str:
    """Return the mean of relative changes in percent, with the 95 % interval's half-width."""
    mean = 100 * float(np.mean(values))
    if len(values) < 2:
        return f"{mean:+.2f}"
    half = 100 * float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return f"{mean:+.2f} ± {half:.2f}"


def main() -> None:
    campaign = Path(sys.argv[1])
    pairs: dict[Point, dict[int, dict[str, Measured]]] = defaultdict(lambda: defaultdict(dict))
    real_time = valid_real_time = 0
    for point, seed, testbed, run, valid in runs(campaign):
        real_time += testbed == "emulated"
        if valid:
            valid_real_time += testbed == "emulated"
            pairs[point][seed].setdefault(testbed, measured(run))
    print(f"{valid_real_time} of {real_time} runs in real time are valid.\n")
    print(
        "| direction | PRB | scenario | cc | pairs | virtual, Mbit/s | throughput, % "
        "| virtual, RTT ms | mean RTT, % | p95 RTT, % | KS distance |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for point, seeds in sorted(pairs.items()):
        both = [one for one in seeds.values() if len(one) == 2]
        if not both:
            continue
        virtual = [one["virtual"] for one in both]
        emulated = [one["emulated"] for one in both]
        pairs_of_runs = list(zip(virtual, emulated, strict=True))
        throughput = [b.throughput_mbps / a.throughput_mbps - 1 for a, b in pairs_of_runs]
        mean = [b.rtt_mean_ms / a.rtt_mean_ms - 1 for a, b in pairs_of_runs]
        p95 = [b.rtt_p95_ms / a.rtt_p95_ms - 1 for a, b in pairs_of_runs]
        distance = stats.ks_2samp(
            np.concatenate([one.rtts_ms for one in virtual]),
            np.concatenate([one.rtts_ms for one in emulated]),
        ).statistic
        print(
            f"| {' | '.join(point)} | {len(both)} "
            f"| {np.mean([one.throughput_mbps for one in virtual]):.2f} | {change(throughput)} "
            f"| {np.mean([one.rtt_mean_ms for one in virtual]):.2f} | {change(mean)} "
            f"| {change(p95)} | {distance:.3f} |"
        )


if __name__ == "__main__":
    main()
