# SPDX-License-Identifier: Apache-2.0
"""Means and intervals of a number that was measured several times, or over time.

Each question has its method named, since the method decides what the answer is worth: how well is
a mean known from independent repeats (Student), from one autocorrelated series (stationary
bootstrap), do two treatments differ that saw the same seeds (paired), by which factor (Fieller),
and how many repeats would be enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
_RESAMPLES = 2000
_FLIPS = 9999
# A shorter series does not show its own correlation.
_SHORTEST_SERIES = 16
# Sums in another order differ by this share at most.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval; the bounds are None where nothing can be said."""

    mean: float
    low: float | None
    high: float | None
    count: int
    method: str

    @property
    def reach(self) -> float:
        """The distance from the mean to the upper bound; NaN without bounds."""
        return math.nan if self.high is None else self.high - self.mean

    @property
    def alike(self) -> bool:
        """Whether all values were the same, so that their spread says nothing.

        The runs need not be: those in which nothing is random give the same numbers, but a count,
        such as of losses, may also agree in runs that differ.
        """
        return self.count > 1 and coincide(self.low, self.high)


def coincide(low: float | None, high: float | None) -> bool:
    """Return whether the bounds of an interval are the same, but for rounding."""
    if low is None or high is None:
        return False
    return math.isclose(low, high, rel_tol=1e-6)  # The root of a rounding error.


@dataclass(frozen=True)
class Pairing:
    """The difference of treatment `b` from `a`, where both had the same seeds."""

    difference: Interval
    """The interval of b minus a."""
    effect: float | None
    """Cohen's d_z: the mean difference over the differences' standard deviation."""
    p: float | None
    """Two-sided, by flipping the signs of the differences (exact while there are few)."""


def of_repeats(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of independent repeats, by Student's t; one value has no interval."""
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    if len(numbers) < 2:
        return Interval(mean, None, None, len(numbers), "one value")
    error = float(numbers.std(ddof=1) / np.sqrt(len(numbers)))
    reach = _student(0.5 + confidence / 2, len(numbers) - 1) * error
    return Interval(mean, mean - reach, mean + reach, len(numbers), "Student's t over repeats")


def _student(share: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution below which this share of it lies."""
    from scipy import special  # scipy.stats takes a second to import.

    return float(special.stdtrit(degrees, share))


def of_series(
    values: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> Interval:
    """Return the mean of one autocorrelated series, by the stationary bootstrap.

    Politis and Romano 1994, with the block length of Patton, Politis and White 2009. With `weights`
    the mean is the ratio of the sums of weight * value and weight: both are resampled together, and
    the block length is that of the ratio's linear part, weight * (value - mean). NaN and values
    without weight are left out. A series under 16 values, or a constant one, has no interval.
    """
    numbers = np.asarray(values, dtype=np.float64)
    shares = np.ones_like(numbers) if weights is None else np.asarray(weights, dtype=np.float64)
    known = ~np.isnan(numbers) & (shares > 0)
    numbers, shares = numbers[known], shares[known]
    mean = float(_weighted(numbers, shares)[0]) if len(numbers) else float("nan")
    if len(numbers) < _SHORTEST_SERIES or float(np.ptp(numbers)) <= _ROUNDING * abs(mean):
        return Interval(mean, None, None, len(numbers), "too short or constant")
    from arch.bootstrap import StationaryBootstrap, optimal_block_length

    lengths = optimal_block_length(shares * (numbers - mean))
    length = max(round(float(lengths["stationary"].iloc[0])), 1)
    bootstrap = StationaryBootstrap(length, numbers, shares, seed=seed)
    bounds = bootstrap.conf_int(_weighted, _RESAMPLES, method="percentile", size=confidence)
    low, high = (float(bound) for bound in bounds[:, 0])
    method = f"stationary bootstrap, blocks of {length} on average"
    return Interval(mean, low, high, len(numbers), method)


def _weighted(values: Floats, weights: Floats) -> Floats:
    # As np.average does it, which looks for wrong weights each time.
    return np.array([(values * weights).sum() / weights.sum()])


def paired(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> Pairing:
    """Compare b with a, value by value; both have the same length and order of seeds.

    Differences that are all the same are not tested: they may come from runs in which nothing is
    random, and then are one observation.
    """
    differences = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    difference = of_repeats(list(differences), confidence)
    if len(differences) < 2 or difference.alike:
        return Pairing(difference, None, None)
    effect = float(differences.mean() / differences.std(ddof=1))
    return Pairing(difference, effect, _flipped(differences))


def _flipped(differences: Floats) -> float:
    """Return the two-sided p-value of a mean of 0: the share of all ways to flip signs, or of 9999
    random ones where there are more, that give a mean as far from 0."""
    count = len(differences)
    if 1 << count > _FLIPS:
        signs, ours = _random_signs(count), 1  # The signs that there are count as one way.
    else:
        signs, ours = 1 - 2 * (np.arange(1 << count)[:, None] >> np.arange(count) & 1), 0
    means = (signs * differences).mean(axis=1)
    rounding = _ROUNDING * float(np.abs(differences).mean())
    as_low = np.count_nonzero(means <= differences.mean() + rounding)
    as_high = np.count_nonzero(means >= differences.mean() - rounding)
    return float(min(2 * (min(as_low, as_high) + ours) / (len(signs) + ours), 1.0))


@cache
def _random_signs(count: int) -> npt.NDArray[np.int64]:
    """Return those that `scipy.stats.permutation_test` draws: it takes a second to import."""
    drawn = np.random.RandomState(1).random_sample((_FLIPS, count, 2))
    return np.where(drawn[..., 0] <= drawn[..., 1], 1, -1)


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """Return the mean of `above` over that of `below`, value by value of the same seeds.

    Fieller 1954: the interval holds each ratio r that Student's test does not reject, as the mean
    of above - r * below. It has no bounds where the mean below may be 0.
    """
    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    count, mean_a, mean_b = len(a), float(a.mean()), float(b.mean())
    quotient = (
        mean_a / mean_b if mean_b else math.copysign(math.inf, mean_a) if mean_a else math.nan
    )
    if count < 2:
        return Interval(quotient, None, None, count, "one value")
    quantile = _student(0.5 + CONFIDENCE / 2, count - 1) ** 2 / count
    (aa, ab), (_, bb) = np.cov(a, b, ddof=1)
    # Roots of (mean_a - r mean_b)^2 = quantile (aa - 2 r ab + r^2 bb).
    square = mean_b**2 - quantile * bb
    linear, constant = mean_a * mean_b - quantile * ab, mean_a**2 - quantile * aa
    if square <= 0:
        return Interval(quotient, None, None, count, "Fieller: the divisor may be 0")
    reach = math.sqrt(max(linear**2 - square * constant, 0.0))
    bounds = (linear - reach) / square, (linear + reach) / square
    return Interval(quotient, *bounds, count, "Fieller's over repeats")


def equivalence(
    above: Sequence[float], below: Sequence[float], low: float, high: float
) -> float | None:
    """Return the p-value of "the ratio of the means lies between `low` and `high`".

    Two one-sided t-tests (Schuirmann 1987) of above - low * below > 0 and of above - high * below <
    0 over pairs of the same seeds: the larger p. None for fewer than two pairs.
    """
    from scipy import special

    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if len(a) < 2:
        return None
    p_values = []
    for excess in (a - low * b, high * b - a):
        error = float(excess.std(ddof=1) / math.sqrt(len(excess)))
        if not error:
            p_values.append(0.0 if excess.mean() > 0 else 1.0)
        else:
            p_values.append(float(special.stdtr(len(excess) - 1, -excess.mean() / error)))
    return max(p_values)


def geometric_mean(above: Sequence[float], below: Sequence[float]) -> float | None:
    """Return the geometric mean of the ratios, pair by pair; None if one is not positive."""
    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if not len(a) or (a <= 0).any() or (b <= 0).any():
        return None
    return float(np.exp(np.log(a / b).mean()))


def repeats_for(values: Sequence[float], half_width_ratio: float) -> int | None:
    """Return how many repeats would give Student's interval this half-width, as a share of the
    mean, if their spread is that of `values`; None for fewer than two of them, or a mean of 0."""
    from scipy import special

    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) < 2 or not numbers.mean():
        return None
    spread = float(numbers.std(ddof=1) / abs(numbers.mean())) / half_width_ratio
    count = 2
    while _student(0.5 + CONFIDENCE / 2, count - 1) * spread > math.sqrt(count):
        # Student's quantile falls with the count: from below, the first that is enough.
        normal = math.floor((float(special.ndtri(0.5 + CONFIDENCE / 2)) * spread) ** 2)
        count = max(count + 1, normal)
    return count


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, by Holm's step-down method (1979)."""
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given)
    steps = given[order] * np.arange(len(given), 0, -1)
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(p) for p in corrected]
