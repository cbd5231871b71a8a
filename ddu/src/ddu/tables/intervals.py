# SPDX-License-Identifier: Apache-2.0
"""Interval samples (MAC, link) brought onto the bins, without losing or inventing a byte.

A sample covers [utc_ns, utc_ns + duration_ns). A counter has its value at the interval's end.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.schema.arrays import Float, Int


def amounts_per_bin(bins: Bins, samples: pd.DataFrame, amounts: Float) -> Float:
    """Return the amounts counted in the intervals, shared out to bins in proportion to overlap.

    Null where no interval with a value reaches into the bin. The sum over all bins is the sum of
    the intervals that they cover.
    """
    known = ~np.isnan(amounts)
    total = _integral(bins, samples, np.where(known, amounts, 0.0))
    covered = _integral(bins, samples, np.where(known, _seconds(samples), 0.0))
    return np.where(covered > 0, total, np.nan)


def means_per_bin(bins: Bins, samples: pd.DataFrame, gauge: Float) -> Float:
    """Return the mean of a gauge over each bin, weighted by overlap; null where it was not
    measured."""
    seconds = np.where(np.isnan(gauge), 0.0, _seconds(samples))
    total = _integral(bins, samples, np.nan_to_num(gauge) * seconds)
    covered = _integral(bins, samples, seconds)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(covered > 1e-12, total / covered, np.nan)


def states_per_bin(bins: Bins, samples: pd.DataFrame, states: Float) -> Float:
    """Return the state in force at each bin's end; null where no interval reaches it."""
    begins: Int = samples["utc_ns"].to_numpy(dtype=np.int64)
    ends = begins + samples["duration_ns"].to_numpy(dtype=np.int64)
    last = bins.edges_utc_ns[1:] - 1
    at = np.searchsorted(begins, last, side="right") - 1
    found = np.where(at >= 0, states[at], np.nan)
    return np.where((at >= 0) & (ends[at] > last), found, np.nan)


def _seconds(samples: pd.DataFrame) -> Float:
    return samples["duration_ns"].to_numpy(dtype=np.float64) / 1e9


def _integral(bins: Bins, samples: pd.DataFrame, amounts: Float) -> Float:
    """Return the amounts per bin, as if spread evenly over each interval."""
    begins: Int = samples["utc_ns"].to_numpy(dtype=np.int64)
    ends = begins + samples["duration_ns"].to_numpy(dtype=np.int64)
    # Instants relative to the grid: float64 keeps nanoseconds there, and not since 1970.
    origin = bins.start_utc_ns
    corners = np.stack([begins - origin, ends - origin], axis=1).ravel().astype(np.float64)
    after = np.cumsum(amounts)
    heights = np.stack([after - amounts, after], axis=1).ravel()
    at_edges = np.interp((bins.edges_utc_ns - origin).astype(np.float64), corners, heights)
    return np.diff(at_edges)
