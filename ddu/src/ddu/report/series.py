# SPDX-License-Identifier: Apache-2.0
"""Points of series, of which there may be more than a figure can show."""

from __future__ import annotations

import numpy as np

from ddu.schema.arrays import Float

MOST_DOTS = 4000
"""Dots of a series; of more, evenly spaced ones are drawn."""
MOST_STEPS = 500
"""Points of a distribution."""


def thinned(x: Float, y: Float) -> tuple[Float, Float]:
    """Return the points that are known, evenly thinned out where there are too many."""
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    if len(x) <= MOST_DOTS:
        return x, y
    kept = np.linspace(0, len(x) - 1, MOST_DOTS).astype(np.int64)
    return x[kept], y[kept]


def distribution(values: Float) -> tuple[Float, Float]:
    """Return the quantiles of values, and the share of the values below each."""
    share = np.linspace(0, 1, min(len(values), MOST_STEPS))
    return np.quantile(values, share), share
