# SPDX-License-Identifier: Apache-2.0
"""The agent of DeepCC (Abbasloo, Yen and Chao, IEEE JSAC 39(1), 2021): state, reward and action.

`least` is `min` for numbers of one flow, `numpy.minimum` for arrays of many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ccplane.learned.interval import Interval

AGENT = "deepcc"
INPUTS = ("delay_above", "delay_below", "acked", "throughput", "window", "elapsed", "least_rtt")
MOST_RATIO = 5.0
LEAST_WINDOW = 4.0


def state(
    interval: Interval, target_s: Any, least: Callable[[Any, Any], Any] = min
) -> tuple[Any, ...]:
    """Return INPUTS: the RTT is a multiple of its target, the throughput a share of the highest."""
    i = interval
    above = least(i.rtt_s / target_s, MOST_RATIO) - 1
    return (
        -least(-above, 0.0) / 2,
        -least(above, 0.0),
        least(i.acked / i.cwnd, 2.0),
        least(i.acked / i.elapsed_s / i.highest_per_s, 2.0),
        least(i.cwnd / (i.highest_per_s * i.least_rtt_s), 10.0) / 4,
        least(i.elapsed_s / i.least_rtt_s, 5.0) / 2,
        least(i.least_rtt_s / target_s, 2.0),
    )


def reward(interval: Interval, target_s: Any, least: Callable[[Any, Any], Any] = min) -> Any:
    """Return throughput x ACKs x delay / target, negative where the delay exceeds its target."""
    i = interval
    share = least(i.acked / i.elapsed_s / i.highest_per_s, 2.0)
    ratio = least(i.rtt_s / target_s, MOST_RATIO)
    return share * share * ratio * (1 - 2 * (ratio > 1))


def cap(cwnd: Any, action: Any, most: Callable[[Any, Any], Any] = max) -> Any:
    """Return the window's cap after an action: 2^a windows."""
    return most(cwnd * 2.0**action, LEAST_WINDOW)
