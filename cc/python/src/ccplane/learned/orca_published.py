# SPDX-License-Identifier: Apache-2.0
"""Orca as its authors published it (their repository's server, agent and kernel patch), for weights
that they trained: what it sees and does, where that differs from ours (orca.py, interval.py).

Times are in seconds, rates in packets/s.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ccplane.abi import RECOVERY, Report
from ccplane.cubic import Cubic
from ccplane.flow import Flow
from ccplane.learned.orca import DELAY_MARGIN, LEAST_WINDOW, LOSS_WEIGHT, MOST_WINDOW
from ccplane.network import Network, State

NAME = "published"
SEEN = State(
    inputs=(
        "throughput", "pacing_rate", "loss", "samples",
        "elapsed_s", "least_rtt", "delay_metric",
    ),
    history=10,
)  # fmt: skip
PERIOD_S = 0.020
SLOW_START_PERIOD_MS, REPORT_PERIOD_MS = 2, 5
SLOW_START_GROWTH = 1.1
"""The growth of the window at each report until slow start has ended; the agent waits for that."""
MOST_PACING = 10.0
HEADERS_BYTES = 52
"""IP, TCP and its timestamps: the pacing rate counts them, throughput and loss do not."""


class Interval(NamedTuple):
    elapsed_s: float
    throughput_per_s: float
    """Mean of TCP's delivery rate samples."""
    samples: int
    """RTT samples."""
    lost: int
    cwnd: int
    pacing_per_s: float
    srtt_s: float
    least_rtt_s: float


class Monitor:
    """Sums the reports of one flow from the end of its slow start on."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._rates: list[float] = []
        self._samples = self._lost = 0

    def report(self, report: Report) -> Interval | None:
        """Return the interval that ends with this report; None: none does."""
        self._lost += report.losses
        if report.rtt_avg_us:
            self._samples += report.acks
        if report.acks and report.rate_interval_us:
            self._rates.append(report.rate_delivered / report.rate_interval_us * 1e6)
        elapsed_s = report.time_ns / 1e9 - self._began_s
        if elapsed_s < PERIOD_S or not self._samples:
            return None
        interval = Interval(
            elapsed_s=elapsed_s,
            throughput_per_s=sum(self._rates) / len(self._rates) if self._rates else 0.0,
            samples=self._samples,
            lost=self._lost,
            cwnd=report.cwnd,
            pacing_per_s=pacing_per_s(report) * (1 + HEADERS_BYTES / report.mss),
            srtt_s=report.srtt_us / 1e6,
            least_rtt_s=report.min_rtt_us / 1e6,
        )
        self._began_s += elapsed_s
        self._rates = []
        self._samples = self._lost = 0
        return interval


def pacing_per_s(report: Report) -> float:
    """Return the pacing rate: one window in a smoothed round trip."""
    return max(report.cwnd, report.inflight) * 1e6 / report.srtt_us


def state(interval: Interval, highest_per_s: float) -> tuple[float, ...]:
    """Return SEEN.inputs, the rates as shares of the highest throughput of the flow."""
    i = interval
    rates = (0.0, 0.0, 0.0)
    if highest_per_s:
        rates = (
            i.throughput_per_s / highest_per_s,
            min(i.pacing_per_s / highest_per_s, MOST_PACING),
            LOSS_WEIGHT * i.lost / i.elapsed_s / highest_per_s,
        )
    no_queue = i.least_rtt_s / i.srtt_s
    return (*rates, i.samples / i.cwnd, i.elapsed_s, no_queue, min(DELAY_MARGIN * no_queue, 1.0))


def window(cwnd: int, action: float) -> int:
    """Return the window after an action: 4^a times as large, in whole percent and packets."""
    return max(min(int(100 * 4.0**action) * cwnd // 100, int(MOST_WINDOW)), int(LEAST_WINDOW))


class Agent:
    """The agent of one flow, above CUBIC."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._monitor: Monitor | None = None
        self._highest_per_s = 0.0
        blank = (0.0,) * len(SEEN.inputs)
        self._seen = deque([blank] * SEEN.history, maxlen=SEEN.history)

    def start(self, flow: Flow) -> None:
        flow.period_ms = SLOW_START_PERIOD_MS

    def act(self, flow: Flow, report: Report, cubic: Cubic) -> None:
        """Change CUBIC's window, after it has seen the report, and pace the flow."""
        if report.srtt_us:
            flow.pacing_bps = pacing_per_s(report) * report.mss * 8
        if self._monitor is None:
            self._wait(flow, report, cubic)
        elif interval := self._monitor.report(report):
            self._highest_per_s = max(self._highest_per_s, interval.throughput_per_s)
            self._seen.append(state(interval, self._highest_per_s))
            action = self._network.answer([one for seen in self._seen for one in seen])
            # Until a recovery ends, the kernel sets the window at each ACK itself.
            if report.ca_state != RECOVERY:
                # CUBIC goes on as if the window were its own: its curve stays where it was.
                cubic.cwnd = window(int(cubic.cwnd), action)

    def _wait(self, flow: Flow, report: Report, cubic: Cubic) -> None:
        if cubic.ssthresh < cubic.cwnd:
            flow.period_ms = REPORT_PERIOD_MS
            self._monitor = Monitor(report.time_ns / 1e9)
        elif report.rtt_avg_us and report.ca_state != RECOVERY:
            cubic.cwnd = min(int(SLOW_START_GROWTH * cubic.cwnd), MOST_WINDOW)
