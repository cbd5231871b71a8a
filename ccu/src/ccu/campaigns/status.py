# SPDX-License-Identifier: Apache-2.0
"""The status of a campaign: how many runs are done, failed and left, and the time left."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median

from ccu.campaigns.cells import Cell
from ccu.campaigns.estimate import expected_s
from ccu.campaigns.runner import Work
from ddu.campaign.definition import Point


@dataclass(frozen=True)
class Row:
    """The runs of one point of the design, counted."""

    point: Point
    planned: int
    done: int
    degraded: int
    failed: int
    enough: bool
    """True if the stop rule is satisfied: further runs are not needed."""

    @property
    def waiting(self) -> int:
        """Return how many runs are still to do."""
        return 0 if self.enough else self.planned - self.done - self.failed


@dataclass(frozen=True)
class CampaignStatus:
    rows: list[Row]
    left_out: dict[str, int]
    left_s: float
    """Estimated time until the end, as many runs at a time as the work says."""
    failures: list[tuple[Cell, str]]

    @property
    def planned(self) -> int:
        return sum(row.planned for row in self.rows)

    @property
    def done(self) -> int:
        return sum(row.done for row in self.rows)

    @property
    def complete(self) -> bool:
        """Return whether nothing is left to try."""
        return not any(row.waiting for row in self.rows)


def status_of(work: Work) -> CampaignStatus:
    """Return the status of the campaign, by its directory."""
    return Progress(work).status()


@dataclass(frozen=True)
class _Point:
    """The status of a point until one of its cells is tried again."""

    row: Row
    expected_s: float
    """The time that a run takes by the testbed's own estimate."""
    failures: list[tuple[Cell, str]]
    taken_s: list[float]
    """The time of each run."""

    def left_s(self, correction: float) -> float:
        """Return the time of its runs still to do: as they took, else as expected, corrected."""
        a_run_s = fmean(self.taken_s) if self.taken_s else self.expected_s * correction
        return self.row.waiting * a_run_s


class Progress:
    """The status of a running campaign: after a run, only its point is counted again."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._expected_s = {
            point: expected_s(group[0].of_point, work.folder.campaign.keep)
            for point, group in work.by_point.items()
        }
        self._points = {point: self._of(point) for point in work.by_point}

    def update(self, cell: Cell) -> None:
        """Count the point of `cell` again, as `Work.update` has read it."""
        self._points[cell.point] = self._of(cell.point)

    def status(self) -> CampaignStatus:
        points = self._points.values()
        ratios = [taken_s / one.expected_s for one in points for taken_s in one.taken_s]
        correction = median(ratios) if ratios else 1.0
        rows = [one.row for one in points]
        left_s = sum(one.left_s(correction) for one in points) / self._work.at_once
        failures = [failure for one in points for failure in one.failures]
        return CampaignStatus(rows, dict(self._work.left_out), left_s, failures)

    def _of(self, point: Point) -> _Point:
        work, group = self._work, self._work.by_point[point]
        states = [work.state(cell) for cell in group]
        failures = [
            (cell, work.attempts(cell)[-1].reason)
            for cell, state in zip(group, states, strict=True)
            if state == "failed"
        ]
        results = [one for cell in group if (one := work.attempts(cell).result) is not None]
        row = Row(
            point,
            planned=len(group),
            done=len(results),
            degraded=sum(one.verdict == "degraded" for one in results),
            failed=len(failures),
            enough=work.enough(point),
        )
        taken_s = [one.took_s for one in results if one.took_s is not None]
        return _Point(row, self._expected_s[point], failures, taken_s)
