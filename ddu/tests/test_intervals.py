# SPDX-License-Identifier: Apache-2.0
"""Counters and gauges brought onto the bins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ddu.align.bins import Bins
from ddu.align.counters import increments
from ddu.tables.intervals import Intervals

MS = 1_000_000
NAN = float("nan")


def samples(*starts_ms: float) -> pd.DataFrame:
    return pd.DataFrame({"utc_ns": [int(ms * MS) for ms in starts_ms], "duration_ns": 10 * MS})


def test_a_counter_that_falls_was_restarted() -> None:
    assert increments(np.array([5.0, 9.0, 2.0, 3.0])).tolist() == [5, 4, 2, 1]


def test_an_unread_counter_is_null_and_nothing_is_lost() -> None:
    values = increments(np.array([5.0, NAN, 9.0]))
    assert np.isnan(values[1])
    assert np.nansum(values) == 9


def test_amounts_are_shared_by_overlap_and_none_is_lost() -> None:
    bins = Bins(0, 20 * MS, 3)
    values = Intervals(bins, samples(5, 15, 25)).amounts(np.array([10.0, 10.0, 10.0]))
    assert values[:2] == pytest.approx([15, 15])
    assert np.isnan(values[2])


def test_a_gauge_that_was_not_measured_is_null_and_never_0() -> None:
    bins = Bins(0, 20 * MS, 2)
    values = Intervals(bins, samples(0, 10, 20, 30)).means(np.array([-50.0, NAN, NAN, NAN]))
    assert values[0] == pytest.approx(-50)
    assert np.isnan(values[1])
