# SPDX-License-Identifier: Apache-2.0
"""Whether a congestion control has more throughput than was possible, or than the oracle, at the
same delay.

`python -m testsupport.oracle POINTS` runs the oracle with several parameters and every congestion
control of `ccu list cc` over every scenario. Each run adds a line of JSON to the file POINTS, and
is not repeated if it has one. It prints a table, and exits with 1 if a run is above what was
possible or above the oracle's front.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ccu import congestion, scenarios
from ccu.testbeds import drivers
from ddu.analyze import analysis_of
from testsupport.prepared import command

SETTINGS = (
    *("share=0.5 delay_ms=0", "share=0.9 delay_ms=0"),
    *(f"delay_ms={ms}" for ms in (0.1, 1, 3, 10, 30, 100, 300, 1000, 3000)),
)
"""The oracle's parameters, one run each: from less of a queue than any sender's to more."""
MARGIN = 0.02
"""The front is drawn through a few points: a congestion control may be above it by this share."""
LINK = ("--rtt", "20ms")


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
        summary = analysis_of(run).summary
    owd_ms = summary["packet_owd_ms"]
    least_ms, of_possible = (
        summary[name]["dl"] for name in ("possible_owd_ms", "of_possible_ratio")
    )
    return Point(summary["throughput_bps"] / 1e6, owd_ms["mean"], least_ms, of_possible)


def controlled(cc: str, cc_params: str = "") -> list[str]:
    """Return the arguments of a congestion control with parameters, a space between them."""
    return ["--cc", cc, *(word for one in cc_params.split() for word in ("--cc-param", one))]


def oracles_front(scenario: str, settings: Sequence[str], *arguments: str) -> Front:
    """Return the oracle's front over a scenario. Raises FailedRunError."""
    own = (controlled("oracle", one) for one in settings)
    return Front([measured(scenario, *one, *arguments) for one in own])


def is_above(point: Point, front: Front) -> bool:
    """Return whether a congestion control has more than the oracle at its delay, or than any
    sender could have."""
    return point.mbps > (1 + MARGIN) * front.mbps(point.owd_ms) or point.of_possible > 1


def names() -> list[str]:
    """Return all congestion controls but the oracle."""
    of_testbeds = (driver.own_controls() for driver in drivers().values())
    return sorted(set(congestion.describe()).union(*of_testbeds) - {"oracle"})


@dataclass(frozen=True)
class Run:
    """A run of the comparison; `cc_params` are the oracle's."""

    scenario: str
    cc: str
    cc_params: str = ""

    def point(self, duration: str) -> Point:
        """Run it. Raises FailedRunError."""
        own = controlled(self.cc, self.cc_params)
        return measured(self.scenario, *own, "--duration", duration)


def runs(over: list[str], controls: list[str]) -> Iterator[Run]:
    """Yield all runs, of each congestion control over all scenarios before the next."""
    for setting in SETTINGS:
        yield from (Run(scenario, "oracle", setting) for scenario in over)
    for cc in controls:
        yield from (Run(scenario, cc) for scenario in over)


def fronts_of(points: dict[Run, Point]) -> dict[str, Front]:
    """Return the oracle's front over each scenario for which it has runs."""
    of_oracle: dict[str, list[Point]] = {}
    for run, point in points.items():
        if run.cc == "oracle":
            of_oracle.setdefault(run.scenario, []).append(point)
    return {scenario: Front(some) for scenario, some in of_oracle.items()}


def table(points: dict[Run, Point]) -> Iterator[str]:
    """Yield the lines of a table: of each scenario, what was nearest to the possible, and what is
    highest above the oracle's front or nearest below it."""
    yield "| scenario | runs | nearest to the possible | oracle | highest on the front | oracle |"
    yield "|---|---|---|---|---|---|"
    for scenario, front in sorted(fronts_of(points).items()):
        own = {run: point for run, point in points.items() if run.scenario == scenario}
        oracle = [point for run, point in own.items() if run.cc == "oracle"]
        others = {run.cc: point for run, point in own.items() if run.cc != "oracle"}
        if not others:
            continue
        best = max(others, key=lambda cc: others[cc].of_possible)
        near = max(others, key=lambda cc: others[cc].mbps / front.mbps(others[cc].owd_ms))
        there = front.mbps(others[near].owd_ms)
        yield (
            f"| `{scenario}` | {len(own)} | {best} {others[best].of_possible:.4f} "
            f"| {max(point.of_possible for point in oracle):.4f} "
            f"| {near} {others[near].mbps:.2f} at {others[near].owd_ms:.1f} ms | {there:.2f} |"
        )


def runs_above(points: dict[Run, Point]) -> Iterator[Run]:
    """Yield the runs that are above what was possible, or above the front of the oracle's."""
    fronts = fronts_of(points)
    for run, point in points.items():
        front = None if run.cc == "oracle" else fronts.get(run.scenario)
        if point.of_possible > 1 or (front and is_above(point, front)):
            yield run


def main() -> None:
    """Compare all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("points", type=Path, help="file of the results")
    parser.add_argument("--cc", nargs="+", default=names(), help="congestion controls")
    parser.add_argument("--scenarios", nargs="+", default=sorted(scenarios.library()))
    parser.add_argument("--duration", default="5s")
    given = parser.parse_args()
    points = read(given.points)
    with given.points.open("a") as file:
        for run in runs(given.scenarios, given.cc):
            if run in points:
                continue
            try:
                points[run] = run.point(given.duration)
            except FailedRunError as failed:
                print(f"{run}: {failed}", file=sys.stderr, flush=True)
                continue
            print(json.dumps({**asdict(run), **asdict(points[run])}), file=file, flush=True)
    print("\n".join(table(points)))
    above = list(runs_above(points))
    print(f"{len(points)} runs; above the possible or the oracle's front: {above or 'none'}")
    sys.exit(1 if above else 0)


def read(file: Path) -> dict[Run, Point]:
    """Return the results of earlier calls."""
    points = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        one = json.loads(line)
        run = {name: one.pop(name) for name in Run.__dataclass_fields__}
        points[Run(**run)] = Point(**one)
    return points


if __name__ == "__main__":
    main()
