# SPDX-License-Identifier: Apache-2.0
"""CUBIC (RFC 9438) and Reno for policies that stand above them, with Linux's constants and HyStart.

Those of the kernel see each ACK; these see reports, and grow by what a report's ACKs acknowledge.
"""

from __future__ import annotations

from math import inf

from ccplane.abi import LOSS, RECOVERY, Report

C = 0.4
"""Packets/s³."""
BETA = 717 / 1024
FRIENDLY_ACKS = 15 / 8
"""ACKed packets for each packet that Reno's window grows by, as a multiple of CUBIC's window:
(1+b)/(3(1-b)) with b = BETA, rounded down to eighths as in Linux."""
FIRST_GROWTH = 20
"""ACKed packets for each packet that the window grows by, at most, until the first loss."""
LEAST_GROWTH = 0.01
"""Growth in a round trip, packets, where the curve is flat."""
LEAST_WINDOW = 2.0
"""Packets."""
DELAY_LEAST_S, DELAY_MOST_S = 0.004, 0.016
"""HyStart: bounds of the increase of the RTT, an eighth of the least RTT, that ends slow start."""
ROUND_SAMPLES = 8
"""HyStart: ACKs in a round before its least RTT counts."""
SLOW_START_LEAST = 16
"""HyStart: the smallest window at which it ends slow start, packets."""


class Cubic:
    """The window of one flow, packets."""

    beta = BETA

    def __init__(self, cwnd: float = 10.0) -> None:
        self.cwnd, self.ssthresh = cwnd, inf
        self._before = cwnd, self.ssthresh
        self._forget()
        self._round_end_s, self._round_min_s, self._round_acks = 0.0, inf, 0
        self._reported_s = 0.0
        self._marked, self._until = 0, 0

    def _forget(self) -> None:
        self._epoch_s: float | None = None
        self._last_max = self._origin = self._k_s = self._reno = 0.0

    def report(self, report: Report) -> None:
        """Grow by what a report says, unless the application left the window unused; shrink once a
        round trip by congestion marks (RFC 3168 section 6.1.2)."""
        self._pass_idle_time(report)
        marks, self._marked = report.delivered_ce - self._marked, report.delivered_ce
        if marks and report.ca_state < RECOVERY and report.prior_delivered >= self._until:
            self.lose()
            self._until = report.delivered + report.inflight
            return
        # After a timeout what was lost is retransmitted in slow start (RFC 5681 section 3.1).
        if report.ca_state != RECOVERY and report.acked:
            now_s, least_s = report.time_ns / 1e9, report.min_rtt_us / 1e6
            if self.cwnd < self.ssthresh:
                self._look_at_delay(report, now_s, least_s)
            if report.cwnd_limited or self._doubles_what_was_used(report):
                self.grow(report.acked, now_s, least_s)

    def _doubles_what_was_used(self, report: Report) -> bool:
        """Return whether slow start goes on: pacing, too, may keep packets from filling a window,
        up to half of it (tcp_is_cwnd_limited() of Linux)."""
        used = max(report.inflight + report.acked, report.tx_inflight)
        return self.cwnd < min(self.ssthresh, 2 * used)

    def _pass_idle_time(self, report: Report) -> None:
        """Shift CUBIC's curve by the time in which the sender had nothing in flight or to send
        (RFC 9438 section 5.8): between the last report and the departure of the newest packet."""
        now_s = report.time_ns / 1e9
        if self._epoch_s is not None and report.app_limited and report.rtt_us:
            self._epoch_s += max(0.0, now_s - report.rtt_us / 1e6 - self._reported_s)
        self._reported_s = now_s

    def state(self, report: Report) -> None:
        """Shrink after a loss or a timeout."""
        if report.ca_state == RECOVERY:
            self.lose()
        elif report.ca_state == LOSS:
            self.lose()
            self.cwnd = 1.0
            self._forget()
            self._round_min_s = inf

    def undo(self) -> None:
        """Take back the last loss, which was none, as far as the kernel does."""
        cwnd, ssthresh = self._before
        self.cwnd, self.ssthresh = max(self.cwnd, cwnd), max(self.ssthresh, ssthresh)

    def set(self, cwnd: float) -> None:
        """Take another's window. One that is smaller ends slow start and begins CUBIC's curve
        again, which would undo it."""
        if cwnd < self.cwnd:
            self.ssthresh = min(self.ssthresh, cwnd)
            self._epoch_s = None
        self.cwnd = cwnd

    def grow(self, acked: float, now_s: float, least_s: float) -> None:
        if self.cwnd < self.ssthresh:
            before = self.cwnd
            self.cwnd = min(self.cwnd + acked, self.ssthresh)
            acked -= self.cwnd - before
        if acked > 0:
            self.cwnd += acked / self._acks_for_each(acked, now_s, least_s)

    def _acks_for_each(self, acked: float, now_s: float, least_s: float) -> float:
        """Return how many packets have to be ACKed for each packet that the window grows by."""
        if self._epoch_s is None:
            self._epoch_s, self._reno = now_s, self.cwnd
            self._origin = max(self._last_max, self.cwnd)
            self._k_s = ((self._origin - self.cwnd) / C) ** (1 / 3)
        target = self._origin + C * (now_s + least_s - self._epoch_s - self._k_s) ** 3
        acks = self.cwnd / max(target - self.cwnd, LEAST_GROWTH)
        if not self._last_max:
            acks = min(acks, FIRST_GROWTH)
        self._reno += acked / (FRIENDLY_ACKS * self.cwnd)
        if self._reno > self.cwnd:
            acks = min(acks, self.cwnd / (self._reno - self.cwnd))
        return max(acks, 2.0)  # At most 1.5 times the window in a round trip, as in Linux.

    def lose(self) -> None:
        self._before = self.cwnd, self.ssthresh
        # Fast convergence: a flow whose maximum falls leaves more of the link to others.
        falls = self.cwnd < self._last_max
        self._last_max = self.cwnd * (1 + self.beta) / 2 if falls else self.cwnd
        self._epoch_s = None
        self.ssthresh = self.cwnd = max(self.cwnd * self.beta, LEAST_WINDOW)

    def _look_at_delay(self, report: Report, now_s: float, least_s: float) -> None:
        """End slow start where the least RTT of a round says that a queue grows (HyStart)."""
        if now_s >= self._round_end_s:
            self._round_end_s = now_s + report.srtt_us / 1e6
            self._round_min_s, self._round_acks = inf, 0
        if report.rtt_min_us:
            self._round_min_s = min(self._round_min_s, report.rtt_min_us / 1e6)
            self._round_acks += report.acks
        margin_s = min(max(least_s / 8, DELAY_LEAST_S), DELAY_MOST_S)
        enough = self._round_acks >= ROUND_SAMPLES and self.cwnd >= SLOW_START_LEAST
        if enough and self._round_min_s > least_s + margin_s:
            self.ssthresh = self.cwnd


class Reno(Cubic):
    """Reno (RFC 5681)."""

    beta = 0.5

    def _acks_for_each(self, acked: float, now_s: float, least_s: float) -> float:  # noqa: ARG002
        return self.cwnd
