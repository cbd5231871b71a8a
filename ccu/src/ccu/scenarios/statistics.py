# SPDX-License-Identifier: Apache-2.0
"""The statistics of a scenario's link, for our scenarios and for measured ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DEAD_MBPS = 10.0
"""The upper limit of a dead zone, "close to zero" in Pazhooheshy, Abbasloo and Ganjali,
appendix F."""
FROM_MBPS, TO_MBPS = 500.0, 250.0
"""A handover from 5G to 4G is a fall from above the first to below the second (appendix F)."""
WITHIN_S = 3


class LinkStatistics(NamedTuple):
    """The statistics of a rate in Mbit/s, sampled once per second."""

    mean_mbps: float
    std_mbps: float
    max_mbps: float
    dead_ratio: float
    drops_per_minute: float
    correlation: tuple[float, ...]
    """The autocorrelation at LAGS_S."""


LAGS_S = (1, 2, 5, 10, 20)


def link_statistics(mbps: np.ndarray) -> LinkStatistics:
    """Return the statistics of one link; the series must be longer than the longest lag."""
    centred = mbps - mbps.mean()
    variance = float(centred @ centred) / len(mbps) or 1.0
    correlation = tuple(
        float(centred[:-lag] @ centred[lag:]) / (len(mbps) - lag) / variance for lag in LAGS_S
    )
    return LinkStatistics(
        float(mbps.mean()),
        float(mbps.std()),
        float(mbps.max()),
        float((mbps < DEAD_MBPS).mean()),
        60 * drops(mbps) / len(mbps),
        correlation,
    )


def drops(mbps: np.ndarray) -> int:
    """Count the falls of the rate from above FROM_MBPS to below TO_MBPS within WITHIN_S seconds.

    Each fall is counted once: after it, the rate has to be above FROM_MBPS again.
    """
    count, last_high = 0, -WITHIN_S - 1
    for second, rate in enumerate(mbps):
        if rate > FROM_MBPS:
            last_high = second
        elif rate < TO_MBPS and second - last_high <= WITHIN_S:
            count += 1
            last_high = -WITHIN_S - 1
    return count
