# SPDX-License-Identifier: Apache-2.0
"""The claims of a campaign, tested: numbers with intervals, effects, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import pandas as pd

from ddu import statistics
from ddu.reproductions.claims import Check, Claim, Labels
from ddu.reproductions.measured import Measured
from ddu.reproductions.verdicts import Agreement, Evidence, Verdict, judge, together
from ddu.statistics import Interval


@dataclass(frozen=True)
class Number:
    """Our number for one check, or for one level of it, before its verdict."""

    check: Check
    of: Labels
    over: Labels | None
    interval: Interval | None = None
    """None if there is no run of it."""
    observations: int = 0
    """Runs, or pairs of runs, that differ in any number."""
    effect: float | None = None
    """Cohen's d_z of the pairs."""
    p: float | None = None
    """The p-value of the test that the check asks for."""
    geometric_mean: float | None = None
    """The geometric mean of the pairs' ratios."""
    missing: str = ""
    """The reason why there is no interval."""


@dataclass(frozen=True)
class Outcome:
    """A number with its verdict."""

    number: Number
    p_holm: float | None
    """p, corrected over the tests of the campaign."""
    verdict: Agreement
    reason: str


@dataclass(frozen=True)
class Tested:
    """A claim with its outcomes."""

    claim: Claim
    outcomes: tuple[Outcome, ...]
    verdict: Verdict


def tested(claims: Sequence[Claim], runs: Measured | None) -> list[Tested]:
    """Return the claims of a campaign, tested as far as there are runs.

    The p-values of all their tests are corrected together before any verdict.
    """
    numbers = [
        [number for check in claim.checks for number in _numbers(check, runs)] for claim in claims
    ]
    known = [one.p for of_claim in numbers for one in of_claim if one.p is not None]
    corrected = iter(statistics.holm(known))
    return [
        _checked(claim, [(one, None if one.p is None else next(corrected)) for one in of_claim])
        for claim, of_claim in zip(claims, numbers, strict=True)
    ]


def _checked(claim: Claim, numbers: list[tuple[Number, float | None]]) -> Tested:
    if claim.untestable is not None:
        return Tested(claim, (), "cannot be tested here")
    outcomes = tuple(_outcome(number, p_holm) for number, p_holm in numbers)
    return Tested(claim, outcomes, together([one.verdict for one in outcomes], claim.one_suffices))


def _outcome(number: Number, p_holm: float | None) -> Outcome:
    if number.interval is None:
        return Outcome(number, None, "not yet run", number.missing)
    evidence = Evidence(number.interval, number.observations, p_holm)
    return Outcome(number, p_holm, *judge(number.check, evidence))


def _numbers(check: Check, runs: Measured | None) -> Iterator[Number]:
    pairs = list(comparisons(check, runs)) if runs is not None else []
    if runs is None or not pairs:
        over = None if check.over is None else {**check.at, **check.over}
        yield Number(check, {**check.at, **check.of}, over)
        return
    for of, over in pairs:
        values = _values(check, runs, of, over)
        if values is None:
            missing = f"the profile {runs.profile} has no data for it"
            yield Number(check, of, over, missing=missing)
            continue
        observations = max(runs.observations(where) for where in (of, over) if where is not None)
        yield _number(Number(check, of, over, observations=observations), *values)


def _number(empty: Number, above: list[float], below: list[float] | None) -> Number:
    """Return the number with its interval and the test that its check asks for."""
    check, neutral = empty.check, empty.check.no_effect
    if check.extreme is not None:
        if below is not None and 0 in below:
            return replace(empty, missing="a divisor is 0")
        each = above if below is None else [x / y for x, y in zip(above, below, strict=True)]
        value = max(each) if check.extreme == "max" else min(each)
        return replace(empty, interval=Interval(value, None, None, len(each), check.extreme))
    interval = _interval(above, below)
    if neutral is None:
        return replace(empty, interval=interval)
    without = below if below is not None else [1.0] * len(above)
    pairing = statistics.paired([neutral * value for value in without], above)
    p = statistics.equivalence(above, without, *check.band) if check.tests_equality else pairing.p
    geometric = None if below is None else statistics.geometric_mean(above, below)
    return replace(empty, interval=interval, effect=pairing.effect, p=p, geometric_mean=geometric)


def _interval(above: list[float], below: list[float] | None) -> Interval:
    return statistics.of_repeats(above) if below is None else statistics.ratio(above, below)


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


def _values(
    check: Check, runs: Measured, of: Labels, over: Labels | None
) -> tuple[list[float], list[float] | None] | None:
    """Return the check's numbers at `of`, and pair by pair those at `over`; None without any."""
    above = runs.values(check, of)
    if over is None:
        values = list(balanced(above))
        return (values, None) if values else None
    both = pd.concat([above, runs.values(check.divisor, over)], axis=1, join="inner")
    if both.empty:
        return None
    both = balanced(both)
    return list(both.iloc[:, 0]), list(both.iloc[:, 1])


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
    values = _values(check, runs, of, over)
    if values is None:
        return None
    empty = Number(check, of, over)
    every = _number(empty, *values).interval
    if every is None:
        return None
    parts: list[tuple[str, Interval]] = []
    for label, odd in (("odd seeds", 1), ("even seeds", 0)):
        half = replace(runs, runs=runs.runs[runs.runs["seed"] % 2 == odd])
        there = _values(check, half, of, over)
        made = _number(empty, *there).interval if there else None
        parts += [(label, made)] if made else []
    for factor in (*runs.links(of), *claim.vary):
        levels = runs.factors.get(factor, [])
        for level in levels if len(levels) > 1 else ():
            fixed = {factor: (level,)}
            if of.get(factor) == (level,):
                continue
            below = None if over is None else {**over, **fixed}
            there = _values(check, runs, {**of, **fixed}, below)
            made = _number(empty, *there).interval if there else None
            parts += [(level, made)] if made else []
    return Sensitivity(claim, of, over, every, tuple(parts))
