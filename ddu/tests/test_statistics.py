# SPDX-License-Identifier: Apache-2.0
"""Intervals against what is known: textbook values, coverage, and an autocorrelated process."""

import itertools

import numpy as np
import pytest
from scipy import stats

from ddu import statistics


def test_students_interval_is_the_textbooks() -> None:
    # Five values of mean 10 and standard deviation 1.5811: 10 ± 2.7764 · 0.7071.
    interval = statistics.of_repeats([8, 9, 10, 11, 12])
    assert interval.low == pytest.approx(10 - 1.9632, abs=1e-3)
    assert interval.high == pytest.approx(10 + 1.9632, abs=1e-3)
    assert statistics.of_repeats([3.0]).low is None


def _autoregressive(generator: np.random.Generator, count: int, rho: float) -> np.ndarray:
    series = np.empty(count)
    value = generator.normal() / np.sqrt(1 - rho**2)
    for index in range(count):
        value = rho * value + generator.normal()
        series[index] = value
    return series


def test_the_bootstrap_knows_that_neighbours_are_alike() -> None:
    """The interval of an AR(1) process with 0.9 contains the truth nearly as often as it promises.

    One that took the values for independent would be √(1.9/0.1) = 4.4 times too narrow, and hold
    it about a third of the time.
    """
    generator = np.random.default_rng(7)
    held = 0
    for trial in range(60):
        interval = statistics.of_series(_autoregressive(generator, 500, 0.9), seed=trial)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= 0 <= interval.high
    assert held >= 48


def test_the_bootstrap_weighs() -> None:
    """Values that come with fewer packets: the mean over packets is covered, that over time not."""

    def drawn(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        generator = np.random.default_rng(seed)
        values = _autoregressive(generator, count, 0.8)
        return values, generator.poisson(5 * np.exp(-0.5 * values)).astype(float)

    values, weights = drawn(99, 200_000)
    truth = float((values * weights).sum() / weights.sum())
    assert truth < -1  # The mean over time is 0.
    held = 0
    for seed in range(60):
        interval = statistics.of_series(*drawn(seed, 500), seed=seed)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= truth <= interval.high
    assert held >= 48


def test_what_weighs_nothing_does_not_count() -> None:
    values, weights = np.arange(40.0), np.arange(40) % 2
    interval = statistics.of_series(values, weights)
    assert (interval.mean, interval.count) == (20.0, 20)
    assert statistics.of_series(values, np.full(40, 3.0)) == statistics.of_series(values)


def test_nan_is_no_value_and_a_constant_has_no_interval() -> None:
    series = np.ones(50)
    series[::3] = np.nan
    interval = statistics.of_series(series)
    assert (interval.mean, interval.low, interval.count) == (1.0, None, 33)


def test_pairing_sees_what_seeds_hide() -> None:
    """Seeds differ by 100, treatments by 1: only the pairs show it."""
    generator = np.random.default_rng(3)
    a = generator.uniform(0, 100, 10)
    b = a + 1 + generator.normal(0, 0.1, 10)
    pairing = statistics.paired(list(a), list(b))
    assert pairing.p == pytest.approx(2 / 2**10)  # All ten signs alike: exact.
    assert pairing.difference.low is not None
    assert 0.9 < pairing.difference.low < 1.1
    assert pairing.effect is not None
    assert pairing.effect > 5


def test_a_number_that_is_the_same_in_each_run_is_not_tested() -> None:
    comparison = statistics.paired([96.4, 96.4, 96.4], [28.3, 28.3, 28.3])
    assert comparison.difference.alike
    assert (comparison.effect, comparison.p) == (None, None)
    assert statistics.ratio([28.3] * 3, [96.4] * 3).alike
    assert not statistics.of_repeats([96.4, 96.4, 96.5]).alike
    assert not statistics.of_repeats([96.4]).alike


def test_holm_is_the_step_down_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04 times 3, 2, 1, never falling.
    assert statistics.holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert statistics.holm([]) == []


def test_the_interval_of_a_ratio_is_what_students_test_does_not_reject() -> None:
    """At its bounds, the test of the mean of a - r b has just p = 0.05 (Fieller's definition)."""
    generator = np.random.default_rng(11)
    b = generator.uniform(20, 60, 12)
    a = 3 * b + generator.normal(0, 15, 12)
    interval = statistics.ratio(list(a), list(b))
    assert interval.mean == pytest.approx(a.mean() / b.mean())
    assert interval.low is not None
    assert interval.high is not None
    for bound in (interval.low, interval.high):
        assert stats.ttest_1samp(a - bound * b, 0).pvalue == pytest.approx(0.05)
    assert stats.ttest_1samp(a - interval.mean * b, 0).pvalue == pytest.approx(1)


def test_a_ratio_has_no_interval_if_its_divisor_may_be_zero_or_there_is_one_value() -> None:
    interval = statistics.ratio([1.0, 2.0, 3.0], [-1.0, 0.1, 1.2])
    assert (interval.low, interval.high) == (None, None)
    assert statistics.ratio([3.0], [2.0]).mean == 1.5


def test_equal_ratios_have_no_width() -> None:
    interval = statistics.ratio([20.0, 22.0, 24.0], [10.0, 11.0, 12.0])
    assert (interval.low, interval.mean, interval.high) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("ratio", [0.01, 0.05, 0.2, 0.9])
def test_the_repeats_that_an_interval_needs(ratio: float) -> None:
    """The number is the least for which Student's half-width is small enough."""
    values = [90.0, 100.0, 110.0, 104.0]
    needed = statistics.repeats_for(values, ratio)
    spread, mean = np.std(values, ddof=1), np.mean(values)
    counts = np.arange(2, 3000)
    enough = stats.t.ppf(0.975, counts - 1) * spread / np.sqrt(counts) <= ratio * mean
    assert needed == counts[enough][0]


def test_holm_is_that_of_its_author() -> None:
    """Against the definition, and an example of Holm 1979 in R's documentation of p.adjust."""
    p = [0.01, 0.04, 0.03, 0.005]
    assert statistics.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == []


def test_the_sign_flips_are_all_of_them() -> None:
    """Against every sign of every difference, counted."""
    a, b = [0.0] * 6, [1.0, 2.0, -0.5, 3.0, 1.5, -1.0]
    signs = np.array(list(itertools.product([1, -1], repeat=6)))
    means = np.abs((signs * np.array(b)).mean(axis=1))
    expected = np.mean(means >= abs(np.mean(b)) - 1e-12)
    assert statistics.paired(a, b).p == pytest.approx(expected)


@pytest.mark.parametrize("count", [2, 5, 13, 14])  # 2^14 ways to flip signs are too many.
def test_the_sign_flips_are_those_of_scipy(count: int) -> None:
    differences = np.random.default_rng(count).choice([-0.1, 0.1, 0.2, 0.3, 1.0], count)
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=9999, random_state=1
    )
    assert statistics.paired([0.0] * count, list(differences)).p == expected.pvalue
