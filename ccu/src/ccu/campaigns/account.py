# SPDX-License-Identifier: Apache-2.0
"""How far a campaign is, in numbers, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from ccu.campaigns.cells import Cell, Levels
from ccu.campaigns.folder import Attempts, State
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
        return all(row.enough or row.done + row.failed == row.planned for row in self.rows)


def account(work: Work) -> Account:
    """How the campaign's directory stands."""
    return Progress(work).account()


class Progress:
    """Keeps the account of a campaign that goes on; reads anew only the cell that changed."""

    def __init__(self, work: Work) -> None:
        self._work = work
        begun = work.folder.begun()
        self._attempts = {
            cell: work.folder.attempts(cell) if cell.slug in begun else Attempts()
            for cell in work.cells
        }

    def update(self, cell: Cell) -> Attempts:
        """Reads what has been tried of `cell` by now."""
        self._attempts[cell] = self._work.folder.attempts(cell)
        return self._attempts[cell]

    def account(self) -> Account:
        rows = [self._row(point) for point in self._work.by_point]
        settled = {row.point for row in rows if row.enough}
        waiting_s = [
            cell.of_point.duration_s
            for cell in self._in_state("to do")
            if cell.point not in settled
        ]
        left_s = sum(waiting_s) + self._overhead_s() * len(waiting_s)
        failures = [(cell, self._attempts[cell][-1].reason) for cell in self._in_state("failed")]
        return Account(rows, dict(self._work.left_out), left_s, failures)

    def _row(self, point: Levels) -> Row:
        group = self._work.by_point[point]
        states = [self._state(cell) for cell in group]
        results = [self._attempts[cell].result for cell in group]
        degraded = sum(one is not None and one.verdict == "degraded" for one in results)
        done, failed = states.count("done"), states.count("failed")
        return Row(point, len(group), done, degraded, failed, self._work.enough(point))

    def _state(self, cell: Cell) -> State:
        return self._attempts[cell].state(self._work.folder.campaign.retries)

    def _in_state(self, state: State) -> list[Cell]:
        return [cell for cell in self._work.cells if self._state(cell) == state]

    def _overhead_s(self) -> float:
        """What a run takes beyond its traffic: the median of those that were done."""
        measured = [
            attempts.result.took_s - cell.of_point.duration_s
            for cell, attempts in self._attempts.items()
            if attempts.result is not None and attempts.result.took_s is not None
        ]
        return median(measured) if measured else _OVERHEAD_S
