# SPDX-License-Identifier: Apache-2.0
"""Interval samples (MAC, link) brought onto the bins, without losing or inventing a byte.

A sample covers [utc_ns, utc_ns + duration_ns). A counter has its value at the interval's end.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.schema.arrays import Float, Int

_LEAST_S = 1e-12
"""Less of a bin is covered by rounding alone."""


class Intervals:
    """Intervals beside a grid: their values per bin, for as many columns as there are."""

    def __init__(self, bins: Bins, samples: pd.DataFrame) -> None:
        self._begins: Int = samples["utc_ns"].to_numpy(dtype=np.int64)
        duration_ns = samples["duration_ns"].to_numpy(dtype=np.int64)
        self._ends = self._begins + duration_ns
        self._seconds = duration_ns.astype(np.float64) / 1e9
        self._edges = bins.edges_utc_ns
        # Instants relative to the grid: float64 keeps nanoseconds there, and not since 1970.
        corners = np.stack([self._begins, self._ends], axis=1) - bins.start_utc_ns
        self._corners = corners.ravel().astype(np.float64)
        self._at = (self._edges - bins.start_utc_ns).astype(np.float64)

    def amounts(self, amounts: Float) -> Float:
        """Return the amounts counted in the intervals, shared out to bins by their overlap.

        Null where no interval with a value reaches into the bin. The sum over all bins is the sum
        of the intervals that they cover.
        """
        known = ~np.isnan(amounts)
        total = self._integral(np.where(known, amounts, 0.0))
        covered = self._integral(np.where(known, self._seconds, 0.0))
        return np.where(covered > _LEAST_S, total, np.nan)

    def means(self, gauge: Float) -> Float:
        """Return the mean of a gauge over each bin, weighted by overlap; null where it was not
        measured."""
        seconds = np.where(np.isnan(gauge), 0.0, self._seconds)
        total = self._integral(np.nan_to_num(gauge) * seconds)
        covered = self._integral(seconds)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(covered > _LEAST_S, total / covered, np.nan)

    def states(self, states: Float) -> Float:
        """Return the state in force at each bin's end; null where no interval reaches it."""
        last = self._edges[1:] - 1
        at = np.searchsorted(self._begins, last, side="right") - 1
        return np.where((at >= 0) & (self._ends[at] > last), states[at], np.nan)

    def _integral(self, amounts: Float) -> Float:
        """Return the amounts per bin, as if spread evenly over each interval."""
        after = np.cumsum(amounts)
        heights = np.stack([after - amounts, after], axis=1).ravel()
        return np.diff(np.interp(self._at, self._corners, heights))
