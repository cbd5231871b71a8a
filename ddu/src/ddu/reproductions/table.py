# SPDX-License-Identifier: Apache-2.0
"""A table of all numbers of a page that have a heading: a row for each level of one factor.

It answers in which reading of a paper its sentences hold, where campaigns share that factor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ddu.reproductions.claims import Check
from ddu.reproductions.outcomes import Outcome, Tested


@dataclass(frozen=True)
class Line:
    """A check, with its number at each level; None where it is not about the level."""

    check: Check
    of_level: tuple[Outcome | None, ...]


@dataclass(frozen=True)
class Table:
    """The numbers of a page by level and check."""

    levels: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def held(self) -> tuple[tuple[int, int], ...]:
        """Return for each level how many numbers hold, and how many there are."""
        columns = zip(*(line.of_level for line in self.lines), strict=True)
        there = ([one.verdict for one in column if one is not None] for column in columns)
        return tuple((each.count("holds"), len(each)) for each in there)


def table_of(factor: str, claims: Iterable[Tested]) -> Table:
    """Return the numbers of the checks that have a heading, at each level of `factor`."""
    by_check: list[tuple[Check, dict[str, Outcome]]] = []
    for claim in claims:
        for check in claim.claim.checks:
            if check.heading:
                of_check = [one for one in claim.outcomes if one.number.check is check]
                by_check.append((check, {_level(one, factor): one for one in of_check}))
    levels = tuple(dict.fromkeys(level for _, by_level in by_check for level in by_level if level))
    return Table(
        levels,
        tuple(Line(check, tuple(map(by_level.get, levels))) for check, by_level in by_check),
    )


def _level(outcome: Outcome, factor: str) -> str:
    labels = outcome.number.of.get(factor, ())
    return labels[0] if len(labels) == 1 else ""
