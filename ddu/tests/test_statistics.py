# SPDX-License-Identifier: Apache-2.0
"""Intervals against what is known: textbook values, coverage, and an autocorrelated process."""

import numpy as np
import pytest

from ddu import statistics


def test_students_interval_is_the_textbooks() -> None:
    # Five values of mean 10 and standard deviation 1.5811: 10 ± 2.7764 · 0.7071.
    found = statistics.of_repeats([8, 9, 10, 11, 12])
    assert found.low == pytest.approx(10 - 1.9632, abs=1e-3)
    assert found.high == pytest.approx(10 + 1.9632, abs=1e-3)
    assert statistics.of_repeats([3.0]).low is None


def _autoregressive(generator: np.random.Generator, count: int, rho: float) -> np.ndarray:
    series = np.empty(count)
    value = generator.normal() / np.sqrt(1 - rho**2)
    for index in range(count):
        value = rho * value + generator.normal()
        series[index] = value
    return series


def test_the_bootstrap_knows_that_neighbours_are_alike() -> None:
    """Of an AR(1) with 0.9, the interval holds the truth nearly as often as it says.

    One that took the values for independent would be √(1.9/0.1) = 4.4 times too narrow, and hold
    it about a third of the time.
    """
    generator = np.random.default_rng(7)
    held = 0
    for trial in range(60):
        found = statistics.of_series(_autoregressive(generator, 500, 0.9), seed=trial)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert held >= 48


def test_nan_is_no_value_and_a_constant_has_no_interval() -> None:
    series = np.ones(50)
    series[::3] = np.nan
    found = statistics.of_series(series)
    assert (found.mean, found.low, found.count) == (1.0, None, 33)


def test_pairing_sees_what_seeds_hide() -> None:
    """Seeds differ by 100, treatments by 1: only the pairs tell."""
    generator = np.random.default_rng(3)
    a = generator.uniform(0, 100, 10)
    b = a + 1 + generator.normal(0, 0.1, 10)
    found = statistics.paired(list(a), list(b))
    assert found.p == pytest.approx(2 / 2**10)  # All ten signs alike: exact.
    assert found.difference.low is not None
    assert 0.9 < found.difference.low < 1.1
    assert found.effect is not None
    assert found.effect > 5


def test_holm_is_the_step_down_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04 times 3, 2, 1, never falling.
    assert statistics.holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert statistics.holm([]) == []
