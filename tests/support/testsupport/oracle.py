# SPDX-License-Identifier: Apache-2.0
"""Whether a congestion control has more throughput than the oracle at the same delay.

`python -m testsupport.oracle` runs the oracle with several delays and every congestion control of
`ccu list cc` over every scenario, prints a line for each run, and exits with 1 if one is above.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ccu import congestion, scenarios
from ccu.testbeds import drivers
from ddu.api import analyze
from testsupport.prepared import command

DELAYS_MS = (1, 3, 10, 30, 100, 300)
"""The delays that the oracle may let data wait for, one run each."""
MARGIN = 0.02
"""The front is drawn through a few points: a congestion control may be above it by this share."""
LINK = ("--prb", "106", "--rtt", "20ms")


class FailedRunError(Exception):
    """An experiment was refused, or failed."""


@dataclass(frozen=True)
class Point:
    """The throughput of a run and the mean one-way delay of its packets, the least mean delay at
    which as much was possible, and the share of what was possible at its delay."""

    mbps: float
    owd_ms: float
    least_ms: float
    of_possible: float


class Front:
    """The highest throughput at each mean delay, of senders that are one of `points` or, part of
    the time, one and part of the time another, or nothing."""

    def __init__(self, points: list[Point]) -> None:
        least_ms = min(point.least_ms for point in points)
        corners = [(least_ms, 0.0)]
        for point in sorted(points, key=lambda point: (point.owd_ms, -point.mbps)):
            if point.mbps <= corners[-1][1]:
                continue
            corners.append((point.owd_ms, point.mbps))
            while len(corners) > 2 and not _is_concave(*corners[-3:]):
                del corners[-2]
        self._owd_ms, self._mbps = (np.array(column) for column in zip(*corners, strict=True))

    def mbps(self, owd_ms: float) -> float:
        """Return the throughput at a mean delay."""
        return float(np.interp(owd_ms, self._owd_ms, self._mbps))


def _is_concave(one: tuple[float, ...], middle: tuple[float, ...], last: tuple[float, ...]) -> bool:
    rise = (middle[1] - one[1]) * (last[0] - one[0])
    return rise >= (last[1] - one[1]) * (middle[0] - one[0])


def measured(scenario: str, *arguments: str) -> Point:
    """Run an experiment. Raises FailedRunError."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        link = ("--testbed", "virtual", "--scenario", scenario, *LINK)
        ran = command("ccu", "run", "--no-report", *link, *arguments, "--output", folder)
        if ran.returncode:
            raise FailedRunError(ran.stderr.strip().splitlines()[-1])
        (run,) = Path(folder).iterdir()
        summary = analyze(run, report=False)
    owd_ms = summary["packet_owd_ms"]
    rate_bps, of_possible = summary["throughput_bps"], summary["of_possible_ratio"]
    return Point(rate_bps / 1e6, owd_ms["mean"], summary["possible_owd_ms"], of_possible)


def oracles_front(scenario: str, *arguments: str) -> Front:
    """Return the oracle's front over a scenario. Raises FailedRunError."""
    delays = (("--cc-param", f"delay_ms={ms}") for ms in DELAYS_MS)
    return Front([measured(scenario, "--cc", "oracle", *delay, *arguments) for delay in delays])


def is_above(point: Point, front: Front) -> bool:
    """Return whether a congestion control has more than the oracle at its delay, or than any
    sender could have."""
    return point.mbps > (1 + MARGIN) * front.mbps(point.owd_ms) or point.of_possible > 1


def names() -> list[str]:
    """Return all congestion controls but the oracle."""
    of_testbeds = (driver.own_controls() for driver in drivers().values())
    return sorted(set(congestion.describe()).union(*of_testbeds) - {"oracle"})


def main() -> None:
    """Compare all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", nargs="+", default=names(), help="congestion controls")
    parser.add_argument("--scenarios", nargs="+", default=sorted(scenarios.library()))
    parser.add_argument("--duration", default="5s")
    given = parser.parse_args()
    above = [compare(scenario, given.cc, given.duration) for scenario in given.scenarios]
    print(f"{sum(above)} points of {len(given.scenarios)} scenarios are above the oracle's front")
    sys.exit(1 if any(above) else 0)


def compare(scenario: str, controls: list[str], duration: str) -> int:
    """Print what each congestion control has over a scenario; return how many are above."""
    above = 0
    try:
        front = oracles_front(scenario, "--duration", duration)
    except FailedRunError as failed:
        print(f"{scenario}: oracle: {failed}", flush=True)
        return 0
    for cc in controls:
        try:
            point = measured(scenario, "--cc", cc, "--duration", duration)
        except FailedRunError as failed:
            print(f"{scenario}: {cc}: {failed}", flush=True)
            continue
        is_higher = is_above(point, front)
        above += is_higher
        print(
            f"{scenario}: {cc}: {point.mbps:.2f} Mbit/s at {point.owd_ms:.2f} ms, oracle "
            f"{front.mbps(point.owd_ms):.2f}, of the possible {point.of_possible:.3f}"
            f"{': ABOVE' if is_higher else ''}",
            flush=True,
        )
    return above


if __name__ == "__main__":
    main()
