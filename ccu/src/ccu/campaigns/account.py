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
    """Reads the campaign's directory."""
    by_point: dict[Levels, list[Cell]] = {}
    for cell in work.cells:
        by_point.setdefault(cell.point, []).append(cell)
    failures: list[tuple[Cell, str]] = []
    waiting_s: list[float] = []
    overheads: list[float] = []
    rows = []
    for point, group in by_point.items():
        states = {cell: work.folder.state(cell) for cell in group}
        enough = work.enough(point)
        degraded = 0
        for cell, state in states.items():
            attempts = work.folder.attempts(cell)
            if state == "failed":
                failures.append((cell, attempts[-1].reason))
            elif state == "to do" and not enough:
                waiting_s.append(cell.experiment.duration_s)
            for attempt in attempts:
                degraded += attempt.counts and attempt.verdict == "degraded"
                if attempt.counts and attempt.took_s is not None:
                    overheads.append(attempt.took_s - cell.experiment.duration_s)
        counted = list(states.values())
        rows.append(
            Row(point, len(group), counted.count("done"), degraded, counted.count("failed"), enough)
        )
    overhead_s = median(overheads) if overheads else _OVERHEAD_S
    left_s = sum(waiting_s) + overhead_s * len(waiting_s)
    return Account(rows, dict(work.left_out), left_s, failures)
