# SPDX-License-Identifier: Apache-2.0
"""The runs of the campaign real-time.yaml, each with the same experiment in virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from ddu import open_run

Point = tuple[str, ...]
FACTORS = ("direction", "prb", "scenario", "cc")
VIRTUAL = "virtual-iperf3"
"""The level of `testbed` with the traffic program of real time."""


@dataclass(frozen=True)
class Measured:
    """The numbers of a run that are compared."""

    throughput_bps: float
    rtt_mean_ms: float
    rtt_p95_ms: float
    retransmissions: float
    rtts_ms: npt.NDArray[np.float64]
    """One mean for each bin of the aligned table that has an RTT."""


@dataclass(frozen=True)
class CampaignRun:
    """A run that has ended."""

    point: Point
    seed: int
    testbed: str
    folder: Path
    verdict: str

    @property
    def measured(self) -> Measured:
        """Its numbers; it is analysed if it was not."""
        opened = open_run(self.folder)
        summary = opened.summary
        rtts = opened.aligned["tcp_rtt_ms"].dropna().to_numpy(dtype=np.float64)
        return Measured(
            summary["throughput_bps"],
            summary["rtt_ms"]["mean"],
            summary["rtt_ms"]["p95"],
            summary["retransmissions_count"],
            rtts,
        )


def runs(campaigns: Sequence[Path]) -> Iterator[CampaignRun]:
    """Yield the complete runs of these campaigns' directories."""
    for campaign in campaigns:
        for file in sorted(campaign.glob("runs/*/cell.json")):
            cell = json.loads(file.read_text())
            point = tuple(str(cell["levels"][factor]) for factor in FACTORS)
            testbed = cell["levels"]["testbed"]
            for record in sorted(file.parent.glob("*/run.json")):
                verdict = json.loads(record.read_text()).get("verdict")
                if verdict is not None:
                    yield CampaignRun(point, cell["seed"], testbed, record.parent, verdict)


def change(values: Sequence[float]) -> str:
    """Return the mean of relative changes in percent, with half of its 95 % interval."""
    mean = 100 * float(np.mean(values))
    if len(values) < 2:
        return f"{mean:+.2f}"
    half = 100 * float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return f"{mean:+.2f} ± {half:.2f}"
