# SPDX-License-Identifier: Apache-2.0
"""The agent of Orca (Abbasloo, Yen and Chao, SIGCOMM 2020): state, reward and action.

`least` is `min` for numbers of one flow, `numpy.minimum` for arrays of many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ccplane.learned.interval import Interval

AGENT = "orca"
INPUTS = (
    "throughput", "sending_rate", "loss", "acked",
    "elapsed", "least_rtt", "delay_metric", "no_queue",
)  # fmt: skip
LOSS_WEIGHT = 5.0
"""zeta: of lost packets against delivered ones."""
DELAY_MARGIN = 1.25
"""beta: up to this multiple of the least RTT, delay costs nothing."""
LEAST_WINDOW, MOST_WINDOW = 4.0, 1e5


def state(interval: Interval, least: Callable[[Any, Any], Any] = min) -> tuple[Any, ...]:
    """Return INPUTS: rates as shares of the highest throughput, times as shares of RTTs."""
    i = interval
    highest = i.highest_per_s
    return (
        least(i.acked / i.elapsed_s / highest, 2.0),
        least(i.cwnd / i.srtt_s / highest, 10.0) / 2,
        least(LOSS_WEIGHT * i.lost / i.elapsed_s / highest, 5.0),
        least(i.acked / i.cwnd, 2.0),
        least(i.elapsed_s / i.least_rtt_s, 5.0) / 2,
        i.least_rtt_s / i.srtt_s,
        _delay_metric(i, least),
        i.least_rtt_s / i.rtt_least_s,
    )


def reward(interval: Interval, least: Callable[[Any, Any], Any] = min) -> Any:
    """Return (throughput - zeta loss) / delay, over its highest: highest throughput, least RTT."""
    i = interval
    useful = (i.acked - LOSS_WEIGHT * i.lost) / i.elapsed_s / i.highest_per_s
    return useful * _delay_metric(i, least)


def _delay_metric(i: Interval, least: Callable[[Any, Any], Any]) -> Any:
    return least(DELAY_MARGIN * i.least_rtt_s / i.rtt_s, 1.0)


def window(
    cwnd: Any, action: Any, least: Callable[[Any, Any], Any] = min, most: Callable[..., Any] = max
) -> Any:
    """Return the window after an action: 2^(2a) times as large."""
    return most(least(cwnd * 4.0**action, MOST_WINDOW), LEAST_WINDOW)
