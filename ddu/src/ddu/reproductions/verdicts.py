# SPDX-License-Identifier: Apache-2.0
"""Whether a claim holds, by the number that we measured and its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ddu.reproductions.claims import Check
from ddu.statistics import Interval

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be tested here", "not yet run"]
VERDICTS: tuple[Verdict, ...] = (
    "holds", "holds in part", "does not hold", "cannot be tested here", "not yet run",
)  # fmt: skip


def judge(check: Check, found: Interval, difference: Interval | None) -> tuple[Verdict, str]:
    """Return the verdict on one number, and why, unless it simply holds.

    It holds if our mean is within the tolerance of the paper's number and, for a claimed effect,
    the interval of `difference`, from where there is none, excludes 0. It holds in part if only the
    direction is confirmed, or if only the interval reaches the paper's number.
    """
    low, high = check.band
    inside, no_effect = low <= found.mean <= high, check.no_effect
    if no_effect is None or difference is None or low <= no_effect <= high:
        if inside:
            return "holds", ""
        least = found.mean if found.low is None else found.low
        most = found.mean if found.high is None else found.high
        if least <= high and most >= low:
            return "holds in part", "only the interval"
        return "does not hold", ""
    if difference.low is None or difference.high is None:
        confirmed, unconfirmed = False, "one run only"
    else:
        confirmed = difference.low > 0 if low > no_effect else difference.high < 0
        unconfirmed = "no significant effect"
    if inside:
        return ("holds", "") if confirmed else ("holds in part", unconfirmed)
    return ("holds in part", "the direction, not the size") if confirmed else ("does not hold", "")


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a claim by those on its parts."""
    tested = [one for one in verdicts if one != "not yet run"]
    if len(tested) < len(verdicts) or not tested:
        return "not yet run"
    if all(one == "holds" for one in tested):
        return "holds"
    return "does not hold" if all(one == "does not hold" for one in tested) else "holds in part"
