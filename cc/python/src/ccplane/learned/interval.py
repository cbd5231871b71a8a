# SPDX-License-Identifier: Apache-2.0
"""The ACKs of a monitoring interval in numbers, of one flow, or arrays of many.

An agent decides at the end of each. `Monitor` makes intervals of reports; the links of
cc/training make them of their own.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Any, NamedTuple

from ccplane.abi import Report

LENGTH_S = 0.020
AVERAGED = 5
"""Intervals whose mean throughput can be the highest: ACKs that come in bursts feign more."""
HISTORY = 8
"""Newest intervals that an agent sees."""


class Interval(NamedTuple):
    """Packets and seconds."""

    elapsed_s: Any
    acked: Any
    lost: Any
    rtt_s: Any
    """Mean of its RTT samples."""
    rtt_least_s: Any
    """Least of them."""
    srtt_s: Any
    least_rtt_s: Any
    """Since the flow began."""
    cwnd: Any
    highest_per_s: Any
    """Highest throughput since the flow began, packets/s."""


class Monitor:
    """Sums the reports of one flow."""

    def __init__(self) -> None:
        self._began_s: float | None = None
        self._acked = self._lost = self._samples = 0
        self._rtt_sum_s, self._rtt_least_s = 0.0, inf
        self._recent: deque[tuple[float, int]] = deque(maxlen=AVERAGED)
        self._highest_per_s = 0.0

    def report(self, report: Report) -> Interval | None:
        """Return the interval that ends with this report; None: none does."""
        now_s = report.time_ns / 1e9
        if self._began_s is None:
            self._began_s = now_s
            return None
        self._acked += report.acked
        self._lost += report.losses
        if report.rtt_avg_us:
            self._samples += report.acks
            self._rtt_sum_s += report.acks * report.rtt_avg_us / 1e6
            self._rtt_least_s = min(self._rtt_least_s, report.rtt_min_us / 1e6)
        elapsed_s = now_s - self._began_s
        if elapsed_s < LENGTH_S or not self._samples:
            return None
        return self._end(report, elapsed_s)

    def _end(self, report: Report, elapsed_s: float) -> Interval:
        self._recent.append((elapsed_s, self._acked))
        times_s, packets = zip(*self._recent, strict=True)
        self._highest_per_s = max(self._highest_per_s, sum(packets) / sum(times_s))
        interval = Interval(
            elapsed_s=elapsed_s,
            acked=self._acked,
            lost=self._lost,
            rtt_s=self._rtt_sum_s / self._samples,
            rtt_least_s=self._rtt_least_s,
            srtt_s=report.srtt_us / 1e6,
            least_rtt_s=report.min_rtt_us / 1e6,
            cwnd=report.cwnd,
            highest_per_s=self._highest_per_s,
        )
        self._began_s = report.time_ns / 1e9
        self._acked = self._lost = self._samples = 0
        self._rtt_sum_s, self._rtt_least_s = 0.0, inf
        return interval
