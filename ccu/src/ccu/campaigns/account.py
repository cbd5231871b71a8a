# SPDX-License-Identifier: Apache-2.0
"""How far a campaign is, in numbers, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from ccu.campaigns.cells import Cell, Levels
from ccu.campaigns.runner import Work

# What a run takes beyond its traffic when none has been measured yet.
_OVERHEAD_S = 3.0


@dataclass(frozen=True)
class Row:
    """One point of the design."""

    point: Levels
    planned: int
    done: int
    degraded: int
    failed: int
    enough: bool
    """The stop rule is satisfied: what is not done is not needed."""

    @property
    def waiting(self) -> int:
        """How many runs are still to do."""
        return 0 if self.enough else self.planned - self.done - self.failed


@dataclass(frozen=True)
class Account:
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
        """Nothing is left to try."""
        return not any(row.waiting for row in self.rows)


def account(work: Work) -> Account:
    """How the campaign's directory stands."""
    return Progress(work).account()


@dataclass(frozen=True)
class _Point:
    """What is known of a point until one of its cells is tried again."""

    row: Row
    waiting_s: float
    """Traffic that is to come."""
    failures: list[tuple[Cell, str]]
    overheads_s: list[float]
    """What its runs took beyond their traffic."""


class Progress:
    """Keeps the account of a campaign that goes on: after a run, only its point is counted."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._points = {point: self._of(point) for point in work.by_point}

    def update(self, cell: Cell) -> None:
        """Takes over what `Work.update` has read of `cell`."""
        self._points[cell.point] = self._of(cell.point)

    def account(self) -> Account:
        points = self._points.values()
        measured = [overhead_s for one in points for overhead_s in one.overheads_s]
        overhead_s = median(measured) if measured else _OVERHEAD_S
        rows = [one.row for one in points]
        left_s = sum(one.waiting_s for one in points) + overhead_s * sum(
            row.waiting for row in rows
        )
        failures = [failure for one in points for failure in one.failures]
        return Account(rows, dict(self._work.left_out), left_s, failures)

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
