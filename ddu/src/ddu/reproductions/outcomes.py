# SPDX-License-Identifier: Apache-2.0
"""The claims of a campaign, tested: numbers with intervals, effects, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import pandas as pd

from ddu import statistics
from ddu.reproductions.claims import Check, Claim, Labels
from ddu.reproductions.measured import Measured
from ddu.reproductions.verdicts import Verdict, judge, together
from ddu.statistics import Interval, Pairing


@dataclass(frozen=True)
class Outcome:
    """Our number for one check, or for one level of it."""

    check: Check
    of: Labels
    over: Labels | None
    interval: Interval | None
    """None if there is no run of it."""
    effect: float | None
    """Cohen's d_z of the pairs."""
    p: float | None
    verdict: Verdict
    reason: str
    p_holm: float | None = None


@dataclass(frozen=True)
class Tested:
    """A claim with its outcomes."""

    claim: Claim
    outcomes: tuple[Outcome, ...]
    verdict: Verdict


def tested(claim: Claim, runs: Measured | None) -> Tested:
    """Return the claim, tested as far as there are runs."""
    if claim.untestable is not None:
        return Tested(claim, (), "cannot be tested here")
    outcomes = tuple(outcome for check in claim.checks for outcome in _outcomes(check, runs))
    return Tested(claim, outcomes, together([one.verdict for one in outcomes], claim.one_suffices))


def corrected(claims: list[Tested]) -> list[Tested]:
    """Return the claims with p-values corrected by Holm's method, over all of them together."""
    known = [one.p for claim in claims for one in claim.outcomes if one.p is not None]
    values = iter(statistics.holm(known))
    return [
        replace(
            claim,
            outcomes=tuple(
                one if one.p is None else replace(one, p_holm=next(values))
                for one in claim.outcomes
            ),
        )
        for claim in claims
    ]


def _outcomes(check: Check, runs: Measured | None) -> Iterator[Outcome]:
    pairs = list(comparisons(check, runs)) if runs is not None else []
    if runs is None or not pairs:
        of = {**check.at, **check.of}
        over = None if check.over is None else {**check.at, **check.over}
        yield Outcome(check, of, over, None, None, None, "not yet run", "")
        return
    for of, over in pairs:
        interval, pairing = _measure(check, runs, of, over)
        if interval is None:
            why = f"the profile {runs.profile} has no data for it"
            yield Outcome(check, of, over, None, None, None, "not yet run", why)
            continue
        said = judge(check, interval, pairing.difference if pairing else None)
        effect, p = (pairing.effect, pairing.p) if pairing else (None, None)
        yield Outcome(check, of, over, interval, effect, p, *said)


def comparisons(check: Check, runs: Measured) -> Iterator[tuple[Labels, Labels | None]]:
    """Yield what the check compares: the points, and those below them if it is a ratio."""
    for level in _levels(check, check.each, runs):
        at = {**check.at, **({check.each: (level,)} if check.each else {})}
        of = {**at, **check.of}
        if check.against is None:
            yield (
                of,
                of if check.over_part else None if check.over is None else {**at, **check.over},
            )
            continue
        for other in _levels(check, check.against, runs):
            if other not in check.of.get(check.against, ()):
                yield of, {**of, check.against: (other,)}


def _levels(check: Check, factor: str | None, runs: Measured) -> tuple[str, ...]:
    """Return the levels of the factor that the check is about; one without a name for none."""
    if factor is None:
        return ("",)
    there = runs.factors.get(factor, [])
    wanted = check.at.get(factor)
    return tuple(there) if wanted is None else tuple(one for one in wanted if one in there)


def _measure(
    check: Check, runs: Measured, of: Labels, over: Labels | None
) -> tuple[Interval | None, Pairing | None]:
    """Return the number with its interval, and its difference from where there is no effect."""
    above = runs.values(check, of)
    if over is None:
        values = list(balanced(above))
        if not values:
            return None, None
        interval = statistics.of_repeats(values)
        if check.no_effect is None:
            return interval, None
        return interval, statistics.paired([check.no_effect] * len(values), values)
    both = pd.concat([above, runs.values(check.divisor, over)], axis=1, join="inner")
    if both.empty:
        return None, None
    both = balanced(both)
    a, b = list(both.iloc[:, 0]), list(both.iloc[:, 1])
    assert check.no_effect is not None
    return statistics.ratio(a, b), statistics.paired([check.no_effect * value for value in b], a)


_Rows = TypeVar("_Rows", "pd.Series[float]", pd.DataFrame)


def balanced(rows: _Rows) -> _Rows:
    """Return as many rows of each scenario as there are of that with the fewest, so that links of
    all count alike: the first by seed. The index: the seed, then what else distinguishes links."""
    names = list(rows.index.names)[1:]
    if not names:
        return rows
    groups = rows.sort_index().groupby(level=names)
    return groups.head(int(groups.size().min()))


@dataclass(frozen=True)
class Sensitivity:
    """Our number for a main claim, over parts of the runs."""

    claim: Claim
    of: Labels
    over: Labels | None
    every: Interval
    parts: tuple[tuple[str, Interval], ...]


def sensitivity(claim: Claim, runs: Measured) -> Sensitivity | None:
    """Return how the number of the claim's first check depends on seeds, links, and the factors
    that the claim says."""
    check = claim.checks[0]
    one = next(comparisons(check, runs), None)
    if one is None:
        return None
    of, over = one
    every, _ = _measure(check, runs, of, over)
    if every is None:
        return None
    parts: list[tuple[str, Interval]] = []
    for label, odd in (("odd seeds", 1), ("even seeds", 0)):
        half = replace(runs, runs=runs.runs[runs.runs["seed"] % 2 == odd])
        interval, _ = _measure(check, half, of, over)
        parts += [(label, interval)] if interval else []
    for factor in (*runs.links(of), *claim.vary):
        levels = runs.factors.get(factor, [])
        for level in levels if len(levels) > 1 else ():
            fixed = {factor: (level,)}
            if of.get(factor) == (level,):
                continue
            below = None if over is None else {**over, **fixed}
            interval, _ = _measure(check, runs, {**of, **fixed}, below)
            parts += [(level, interval)] if interval else []
    return Sensitivity(claim, of, over, every, tuple(parts))
