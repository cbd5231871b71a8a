# SPDX-License-Identifier: Apache-2.0
"""The status of a campaign: how many runs are done, failed and left, and the time left."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from ccu.campaigns.cells import Cell, Levels
from ccu.campaigns.runner import Work

# The time of a run beyond its traffic, before any has been measured.
_OVERHEAD_S = 3.0


@dataclass(frozen=True)
class Row:
    """The runs of one point of the design, counted."""

    point: Levels
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
    """Estimated time until the end, one run at a time."""
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
    waiting_s: float
    """The duration of the traffic still to run."""
    failures: list[tuple[Cell, str]]
    overheads_s: list[float]
    """The time of each run beyond its traffic."""


class Progress:
    """The status of a running campaign: after a run, only its point is counted again."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._points = {point: self._of(point) for point in work.by_point}

    def update(self, cell: Cell) -> None:
        """Count the point of `cell` again, as `Work.update` has read it."""
        self._points[cell.point] = self._of(cell.point)

    def status(self) -> CampaignStatus:
        points = self._points.values()
        measured = [overhead_s for one in points for overhead_s in one.overheads_s]
        overhead_s = median(measured) if measured else _OVERHEAD_S
        rows = [one.row for one in points]
        left_s = sum(one.waiting_s for one in points) + overhead_s * sum(
            row.waiting for row in rows
        )
        failures = [failure for one in points for failure in one.failures]
        return CampaignStatus(rows, dict(self._work.left_out), left_s, failures)

    def _of(self, point: Levels) -> _Point:
        work, group = self._work, self._work.by_point[point]
        states = [work.state(cell) for cell in group]
        failures = [
            (cell, work.attempts(cell)[-1].reason)
            for cell, state in zip(group, states, strict=True)
            if state == "failed"
        ]
        results = [one for cell in group if (one := work.attempts(cell).result) is not None]
        duration_s = group[0].of_point.duration_s
        row = Row(
            point,
            planned=len(group),
            done=len(results),
            degraded=sum(one.verdict == "degraded" for one in results),
            failed=len(failures),
            enough=work.enough(point),
        )
        overheads_s = [one.took_s - duration_s for one in results if one.took_s is not None]
        return _Point(row, row.waiting * duration_s, failures, overheads_s)
