# SPDX-License-Identifier: Apache-2.0
"""The time grid of a run, and how observations of every kind are brought onto it.

All layers share one grid: it starts at the first payload packet of the run, and no stream is ever
shifted to its own first sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ddu.schema.arrays import Bool, Float, Int


@dataclass(frozen=True)
class Placed:
    """Observations, each in its bin."""

    index: Int
    """The bin of each observation that is in one."""
    inside: Bool
    """Whether each observation is in a bin."""
    count: int
    """The number of bins."""

    @cached_property
    def counts(self) -> Float:
        """Observations in each bin."""
        return np.bincount(self.index, minlength=self.count).astype(np.float64)

    def sums(self, values: npt.NDArray[np.generic]) -> Float:
        """Sum of a value of the observations in each bin; 0 where there were none."""
        weights = values[self.inside].astype(np.float64)
        return np.bincount(self.index, weights, minlength=self.count).astype(np.float64)

    def means(self, values: Float) -> Float:
        """Mean of a value of the observations in each bin; NaN (null) where there were none."""
        if not values.any():
            return np.where(self.counts > 0, 0.0, np.nan)
        with np.errstate(invalid="ignore"):
            return self.sums(values) / self.counts


@dataclass(frozen=True)
class Bins:
    """`count` bins of `width_ns` from `start_utc_ns`; a bin holds [its start, the next's)."""

    start_utc_ns: int
    width_ns: int
    count: int

    @classmethod
    def covering(cls, first_utc_ns: int, last_utc_ns: int, width_ns: int) -> Bins:
        return cls(first_utc_ns, width_ns, int((last_utc_ns - first_utc_ns) // width_ns) + 1)

    @property
    def edges_utc_ns(self) -> Int:
        return self.start_utc_ns + self.width_ns * np.arange(self.count + 1, dtype=np.int64)

    @property
    def width_s(self) -> float:
        return self.width_ns / 1e9

    def place(self, utc_ns: Int) -> Placed:
        """Return the bins of observations at these times, for several values of each."""
        index = (utc_ns - self.start_utc_ns) // self.width_ns
        inside = (index >= 0) & (index < self.count)
        return Placed(index[inside], inside, self.count)

    def sums(self, utc_ns: Int, values: npt.NDArray[np.generic]) -> Float:
        """Sum of the values observed in each bin; 0 where there were none."""
        return self.place(utc_ns).sums(values)

    def counts(self, utc_ns: Int) -> Float:
        return self.place(utc_ns).counts

    def rates_bps(self, utc_ns: Int, size_bytes: npt.NDArray[np.generic]) -> Float:
        """Bits per second in each bin, whatever the bin's width."""
        return self.sums(utc_ns, size_bytes) * 8 / self.width_s

    def means(self, utc_ns: Int, values: Float) -> Float:
        """Mean of the values observed in each bin; NaN (null) where there were none."""
        return self.place(utc_ns).means(values)

    def percentiles(self, utc_ns: Int, values: Float, percent: float) -> Float:
        """Nearest-rank percentile of the values observed in each bin; NaN where there were none."""
        placed = self.place(utc_ns)
        values = values[placed.inside]
        order = np.lexsort((values, placed.index))
        sizes = placed.counts.astype(np.int64)
        first = np.cumsum(sizes) - sizes
        rank = np.ceil(sizes * percent / 100).astype(np.int64) - 1
        result = np.full(self.count, np.nan)
        some = sizes > 0
        result[some] = values[order][(first + rank)[some]]
        return result

    def latest(self, utc_ns: Int, max_age_ns: int) -> Int:
        """Per bin, the index of the last observation before its end; -1 if older than that age.

        For sampled state (a window, a zone): it holds until the next sample, but not for ever.
        """
        ends = self.edges_utc_ns[1:]
        index = np.searchsorted(utc_ns, ends, side="left") - 1
        age = ends - utc_ns[np.maximum(index, 0)] if len(utc_ns) else np.zeros(self.count)
        return np.where((index >= 0) & (age <= max(max_age_ns, self.width_ns)), index, -1)
