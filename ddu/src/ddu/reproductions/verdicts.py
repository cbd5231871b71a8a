# SPDX-License-Identifier: Apache-2.0
"""Whether a number agrees with the paper's, and a claim holds by its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ddu.reproductions.claims import Check
from ddu.statistics import Interval

Verdict = Literal[
    "holds", "holds in part", "undecided", "does not hold", "cannot be tested here", "not yet run"
]
"""The verdict on a claim."""
VERDICTS: tuple[Verdict, ...] = (
    "holds", "holds in part", "undecided", "does not hold", "cannot be tested here", "not yet run",
)  # fmt: skip
Agreement = Literal[
    "holds", "direction only", "undecided", "does not hold", "opposite", "not yet run"
]
"""The verdict on one number. `opposite`: the effect has the other sign than the paper's."""

SIGNIFICANT = 0.05
"""The level of each test, after Holm's correction over the tests of a campaign."""


@dataclass(frozen=True)
class Evidence:
    """A number as we measured it."""

    interval: Interval
    observations: int
    """Runs, or pairs of runs, that differ in any number: identical ones are one observation."""
    p_holm: float | None = None
    """The corrected p-value of the check's test; None without one."""


def judge(check: Check, evidence: Evidence) -> tuple[Agreement, str]:
    """Return the verdict on one number, and why, unless it simply holds.

    Nothing is said of one observation. A claimed effect holds if our mean is within the tolerance
    and the effect is significant in the claimed direction; "the same" if two one-sided tests put
    our ratio within the margin; a limit if the whole interval keeps it; any other number if our
    mean is within the tolerance; an extreme of the runs, which has no interval, if it is itself.
    """
    if evidence.observations < 2:
        return "undecided", "one observation"
    if check.extreme is not None:
        low, high = check.band
        return ("holds", "") if low <= evidence.interval.mean <= high else ("does not hold", "")
    if check.claimed_effect:
        return _of_effect(check, evidence)
    if check.tests_equality:
        return _of_equality(check, evidence)
    return _of_number(check, evidence.interval)


def _of_effect(check: Check, evidence: Evidence) -> tuple[Agreement, str]:
    low, high = check.band
    mean, neutral = evidence.interval.mean, check.no_effect
    assert neutral is not None
    is_significant = evidence.p_holm is not None and evidence.p_holm <= SIGNIFICANT
    if (mean - neutral) * check.claimed_effect < 0:
        is_open = not is_significant and _reaches(evidence.interval, low, high)
        return ("undecided", "only the interval") if is_open else ("opposite", "")
    if low <= mean <= high:
        return ("holds", "") if is_significant else ("undecided", "no significant effect")
    if _reaches(evidence.interval, low, high):
        return "undecided", "only the interval"
    return ("direction only", "not the size") if is_significant else ("does not hold", "")


def _of_equality(check: Check, evidence: Evidence) -> tuple[Agreement, str]:
    if evidence.p_holm is not None and evidence.p_holm <= SIGNIFICANT:
        return "holds", ""
    if _reaches(evidence.interval, *check.band):
        return "undecided", "not shown to be the same"
    return "does not hold", ""


def _of_number(check: Check, interval: Interval) -> tuple[Agreement, str]:
    low, high = check.band
    if check.about is not None and low <= interval.mean <= high:
        return "holds", ""
    if interval.low is None or interval.high is None:
        is_open = _reaches(interval, low, high)
        return ("undecided", "the interval has no bounds") if is_open else ("does not hold", "")
    if low <= interval.low and interval.high <= high:
        return "holds", ""
    is_open = _reaches(interval, low, high)
    return ("undecided", "only a part of the interval") if is_open else ("does not hold", "")


def _reaches(interval: Interval, low: float, high: float) -> bool:
    """Whether the interval has a number of the band; one without bounds may."""
    if math.isnan(interval.mean):
        return False
    if interval.low is None or interval.high is None:
        return True
    return interval.low <= high and interval.high >= low


def together(numbers: Sequence[Agreement], one_suffices: bool = False) -> Verdict:
    """Return the verdict on a claim by those on its numbers.

    It holds if all of them do (or one, if one suffices), and in part if at least half do and none
    has the opposite sign; it is undecided if the undecided numbers could bring it there.
    """
    if not numbers or "not yet run" in numbers:
        return "not yet run"
    held, is_open = numbers.count("holds"), numbers.count("undecided")
    if held == len(numbers) or (one_suffices and held):
        return "holds"
    if one_suffices:
        return "undecided" if is_open else "does not hold"
    if "opposite" in numbers or 2 * (held + is_open) < len(numbers):
        return "does not hold"
    return "holds in part" if 2 * held >= len(numbers) else "undecided"
