# SPDX-License-Identifier: Apache-2.0
"""Whether a claim holds, by the number that we measured and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ddu.reproductions.claims import Check
from ddu.statistics import Interval

Verdict = Literal[
    "holds", "holds in part", "undecided", "does not hold", "cannot be tested here", "not yet run"
]
VERDICTS: tuple[Verdict, ...] = (
    "holds", "holds in part", "undecided", "does not hold", "cannot be tested here", "not yet run",
)  # fmt: skip


def judge(check: Check, interval: Interval, difference: Interval | None) -> tuple[Verdict, str]:
    """Return the verdict on one number, and why, unless it simply holds.

    It holds if our mean is within the tolerance of the paper's number and, for a claimed effect,
    the interval of `difference`, from where there is none, excludes 0. It holds in part if only the
    direction is confirmed, and is undecided if the runs are too few to confirm or to refute it.
    """
    low, high = check.band
    inside, reached = low <= interval.mean <= high, _reaches(interval, low, high)
    if difference is None or not check.claimed_effect:
        if inside:
            return "holds", ""
        return ("undecided", reached) if reached else ("does not hold", _few(interval))
    confirmed = _is_beyond_zero(difference, check.claimed_effect)
    if inside:
        if confirmed:
            return "holds", ""
        return "undecided", _few(interval) or "no significant effect"
    if confirmed:
        return "holds in part", "the direction, not the size"
    return ("undecided", reached) if reached else ("does not hold", _few(interval))


def _reaches(interval: Interval, low: float, high: float) -> str:
    """Return in which sense the interval reaches the paper's number; empty if it does not."""
    if interval.count < 2 or math.isnan(interval.mean):
        return ""
    if interval.low is None or interval.high is None:
        return "the interval has no bounds"
    return "only the interval" if interval.low <= high and interval.high >= low else ""


def _is_beyond_zero(difference: Interval, direction: int) -> bool:
    if difference.low is None or difference.high is None:
        return False
    return difference.low > 0 if direction > 0 else difference.high < 0


def _few(interval: Interval) -> str:
    return "one run only" if interval.count < 2 else ""


def together(verdicts: Sequence[Verdict], one_suffices: bool = False) -> Verdict:
    """Return the verdict on a claim by those on its parts: all have to hold, or one."""
    tested = [one for one in verdicts if one != "not yet run"]
    if len(tested) < len(verdicts) or not tested:
        return "not yet run"
    if (any if one_suffices else all)(one == "holds" for one in tested):
        return "holds"
    if any(one in ("holds", "holds in part") for one in tested):
        return "holds in part"
    return "does not hold" if "does not hold" in tested else "undecided"
