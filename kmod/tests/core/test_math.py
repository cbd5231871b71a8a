# SPDX-License-Identifier: GPL-2.0-only
"""Compare the fixed-point functions with `math` and `statistics` (docs/reminis.md)."""

from __future__ import annotations

from ctypes import c_int32
from math import exp, isqrt, sqrt
from statistics import NormalDist, fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..core_binding import ONE_Q24, library

NORMAL = NormalDist()
EXP2_RELATIVE_ERROR = 3.7e-6
SIGMOID_ERROR = 1.0e-6
GAUSS_ERROR = 2.0e-4


def gauss(word: int) -> float:
    return float(library().core_gauss(word)) / ONE_Q24


def exact_gauss(word: int) -> float:
    tail = ((word & 0x7FFFFFFF) + 0.5) / 2**32
    size = -NORMAL.inv_cdf(tail)
    return -size if word >> 31 else size


def every(count: int, low: int, high: int) -> list[int]:
    """Return `count` integers over [low, high], both ends included, off the grid of the tables."""
    return [low + (high - low) * i // count for i in range(count)] + [high]


def test_exp2_over_its_range() -> None:
    worst = 0.0
    for x in every(200_003, -12 * ONE_Q24, ONE_Q24):
        exact = 2.0 ** (x / ONE_Q24) * 2**30
        worst = max(worst, (abs(library().core_exp2(c_int32(x)) - exact) - 1) / exact)
    assert 0 < worst <= EXP2_RELATIVE_ERROR


def test_exp2_ends() -> None:
    exp2 = library().core_exp2
    assert exp2(c_int32(ONE_Q24)) == 2**31
    assert exp2(c_int32(0)) == 2**30
    assert exp2(c_int32(-30 * ONE_Q24)) == 1
    assert exp2(c_int32(-(2**31))) == 0


@given(st.integers(-31 * ONE_Q24, ONE_Q24 - 1))
def test_exp2_rises(x: int) -> None:
    assert library().core_exp2(c_int32(x)) <= library().core_exp2(c_int32(x + 1))


def test_sigmoid_over_its_range() -> None:
    worst = 0.0
    for x in every(200_003, -20 * ONE_Q24, 20 * ONE_Q24):
        exact = 1 / (1 + exp(-x / ONE_Q24))
        worst = max(worst, abs(library().core_sigmoid(c_int32(x)) / ONE_Q24 - exact))
    assert 0 < worst <= SIGMOID_ERROR


def test_sigmoid_stays_inside_0_and_1() -> None:
    for x in (-64 * ONE_Q24 + 1, 64 * ONE_Q24 - 1):
        assert 0 <= library().core_sigmoid(c_int32(x)) <= ONE_Q24


def test_gauss_is_the_inverse_distribution_function() -> None:
    tails = [*range(4096), *(2**31 + i for i in range(4096))]
    worst = max(abs(gauss(w) - exact_gauss(w)) for w in [*every(200_003, 0, 2**32 - 1), *tails])
    assert 0 < worst <= GAUSS_ERROR


@given(st.integers(0, 2**31 - 1))
def test_gauss_is_odd(word: int) -> None:
    assert gauss(word) == -gauss(word | 1 << 31)


def draws(count: int, seed: int = 7) -> list[float]:
    return [gauss(library().core_random(seed, 3, n)) for n in range(count)]


def test_draws_have_the_moments_of_a_normal_distribution() -> None:
    count = 200_000
    values = draws(count)
    mean, deviation = fmean(values), pstdev(values)
    skewness = fmean(((v - mean) / deviation) ** 3 for v in values)
    kurtosis = fmean(((v - mean) / deviation) ** 4 for v in values)
    # five standard errors: 1, 1/sqrt 2, sqrt 6, sqrt 24, each over sqrt n
    assert abs(mean) < 5 / sqrt(count)
    assert abs(deviation - 1) < 5 * sqrt(0.5 / count)
    assert abs(skewness) < 5 * sqrt(6 / count)
    assert abs(kurtosis - 3) < 5 * sqrt(24 / count)


def kolmogorov_distance(values: list[float]) -> float:
    values = sorted(values)
    n = len(values)
    return max(
        max((i + 1) / n - NORMAL.cdf(v), NORMAL.cdf(v) - i / n) for i, v in enumerate(values)
    )


def test_draws_pass_kolmogorov_smirnov_and_others_do_not() -> None:
    values = draws(100_000)
    critical = 1.95 / sqrt(len(values))  # significance 0.001
    assert kolmogorov_distance(values) < critical
    assert kolmogorov_distance([v * 1.02 for v in values]) > critical, "the test has no power"


def test_consecutive_draws_are_uncorrelated() -> None:
    values = draws(100_000)
    for lag in (1, 2, 3):
        pairs = zip(values, values[lag:], strict=False)
        assert abs(fmean(a * b for a, b in pairs)) < 5 / sqrt(len(values))


@pytest.mark.parametrize("other", [(8, 3), (7, 4)])
def test_seeds_and_flows_have_their_own_streams(other: tuple[int, int]) -> None:
    words = [library().core_random(7, 3, n) for n in range(1000)]
    assert words == [library().core_random(7, 3, n) for n in range(1000)]
    assert not set(words) & {library().core_random(*other, n) for n in range(1000)}


@given(st.integers(0, 64 * ONE_Q24 - 1))
def test_sqrt_is_the_integer_square_root(x: int) -> None:
    assert library().core_sqrt(x) == isqrt(x << 24)
