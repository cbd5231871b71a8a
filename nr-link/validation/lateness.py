#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of lateness of the emulated link: its runs against the same in virtual time.

Usage: nr-link/validation/lateness.py CAMPAIGN-DIRECTORY…
       after `ccu campaign run nr-link/validation/real-time.yaml --profile full`, and of the
       profiles `stolen…` under nr-link/validation/steal_cpu.py with several shares

Prints a Markdown table: for classes of late slots, by how much real time differs from virtual time
in throughput, mean and 95th percentile of the RTT, and retransmissions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from campaign_runs import VIRTUAL, CampaignRun, change, runs

# Upper bounds of the classes, in percent of the slots.
_CLASSES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Effect(NamedTuple):
    """The differences of a run in real time from virtual time, relative to virtual time."""

    late_percent: float
    p99_us: float
    throughput: float
    rtt_mean: float
    rtt_p95: float
    retransmissions: float


def effect(late: CampaignRun, truth: CampaignRun) -> Effect | None:
    """Return the difference of the two; None if the link left no account."""
    text = (late.folder / "raw" / "link-summary.json").read_text()
    if not text:
        return None
    link = json.loads(text)
    real, virtual = late.measured, truth.measured
    return Effect(
        100 * link["overrun_count"] / link["slots"],
        link["lateness_p99_us"],
        real.throughput_bps / virtual.throughput_bps - 1,
        real.rtt_mean_ms / virtual.rtt_mean_ms - 1,
        real.rtt_p95_ms / virtual.rtt_p95_ms - 1,
        real.retransmissions / max(virtual.retransmissions, 1) - 1,
    )


def effects(campaign_runs: Sequence[CampaignRun]) -> Iterator[tuple[str, Effect]]:
    """Yield the congestion control and the effect of each run in real time that has a twin."""
    truths = {(run.point, run.seed): run for run in campaign_runs if run.testbed == VIRTUAL}
    for run in campaign_runs:
        truth = truths.get((run.point, run.seed))
        if run.testbed == "emulated" and truth and (measured := effect(run, truth)):
            yield run.point[-1], measured


def main() -> None:
    campaign_runs = list(runs([Path(argument) for argument in sys.argv[1:]]))
    measured = list(effects(campaign_runs))
    print(
        "| cc | late slots, % | runs | p99 µs | throughput, % | mean RTT, % | p95 RTT, % "
        "| retransmissions, % |"
    )
    print(f"|{'---|' * 8}")
    for control in sorted({name for name, _ in measured}):
        below = 0.0
        for bound in _CLASSES:
            inside = [
                one
                for name, one in measured
                if name == control and below <= one.late_percent < bound
            ]
            if inside:
                _, p99_us, *differences = zip(*inside, strict=True)
                fields = [control, f"{below:g} to {bound:g}", str(len(inside))]
                fields += [f"{np.median(p99_us):.0f}", *map(change, differences)]
                print(f"| {' | '.join(fields)} |")
            below = bound


if __name__ == "__main__":
    main()
