# SPDX-License-Identifier: Apache-2.0
"""PCC Vivace (Dong et al., NSDI 2018), after the paper: online learning of a sending rate.

The sender tries a rate for a monitor interval of one round trip, and rates what came of it:
u(x) = x^0.9 - 900 x dRTT/dt - 11.35 x L, x in Mbit/s, L the share of lost packets. It
tries pairs of rates 5 % above and below its own, and moves by the utility's gradient.

The slope of the RTT needs filters, or the jitter of a radio link counts as a growing queue: a slope
within the error of its regression is none (tolerance of PCC Proteus, SIGCOMM 2020).
"""

import random
from collections import deque
from math import ceil, sqrt

STEP = 0.05  # of the rate, from which a pair of trials is away
FIRST_BOUND, MORE_BOUND = 0.05, 0.1  # omega and delta: most that one decision changes the rate
GAIN_MBPS = 1.0  # theta
LEAST_MBPS = 0.1
LEAST_INTERVAL_S = 0.01
LEAST_SAMPLES = 4
PACKETS_OF_AN_INTERVAL = 10  # fewer say nothing about loss


class Interval:
    """The fate of the packets that departed from `begin_s` to `end_s`."""

    def __init__(self, rate_mbps, begin_s, end_s):
        self.rate_mbps, self.begin_s, self.end_s = rate_mbps, begin_s, end_s
        self.acked = self.lost = 0
        self.app_limited = False
        self.times_s, self.rtts_s = [], []

    def slope(self, errors):
        """dRTT/dt; 0 if it is within `errors` times the standard error of the regression."""
        count = len(self.times_s)
        if count < LEAST_SAMPLES:
            return 0.0
        middle_s, mean_s = sum(self.times_s) / count, sum(self.rtts_s) / count
        spread = sum((time - middle_s) ** 2 for time in self.times_s)
        if not spread:
            return 0.0
        pairs = list(zip(self.times_s, self.rtts_s, strict=True))
        slope = sum((time - middle_s) * (rtt - mean_s) for time, rtt in pairs) / spread
        residual = sum((rtt - mean_s - slope * (time - middle_s)) ** 2 for time, rtt in pairs)
        error = sqrt(residual / (count - 2) / spread)
        return 0.0 if abs(slope) <= errors * error else slope


class Vivace:
    def __init__(
        self,
        exponent: float = 0.9,
        latency: float = 900.0,
        loss: float = 11.35,
        errors: float = 2.0,
        least_slope: float = 0.01,
    ):
        self.exponent, self.latency, self.loss = exponent, latency, loss
        self.errors, self.least_slope = errors, least_slope
        self.random = random.Random()
        self.rate_mbps = 2.0
        self.trials = deque()  # rates to try, each for one interval
        self.intervals = deque()  # whose packets may still come
        self.current = None
        self.passed = deque()  # (total of delivered packets, time of its report)
        self.results = []  # (rate, utility) of the trials of one decision
        self.starting, self.last_utility = True, None
        self.direction, self.agreed, self.bounds = 0, 0, 0

    def start(self, flow):
        self.random.seed(flow.seed)
        flow.period_ms, flow.cwnd = 1, 100_000
        self._pace(flow, self.rate_mbps)

    def report(self, flow, report):
        now_s = report.time_ns / 1e9
        departed_s = self._departure_s(report, now_s)
        self._note(report, departed_s)
        if self.current is None or now_s >= self.current.end_s:
            length_s = max(report.srtt_us / 1e6, LEAST_INTERVAL_S)
            self._begin(flow, now_s, length_s, report)
        while self.intervals and departed_s >= self.intervals[0].end_s:
            self._judge(self.intervals.popleft())

    def _departure_s(self, report, now_s):
        """Return when the newest acknowledged packet departed; retransmitted ones have no RTT."""
        self.passed.append((report.delivered, now_s))
        while len(self.passed) > 1 and self.passed[1][0] <= report.prior_delivered:
            self.passed.popleft()
        return self.passed[0][1]

    def _note(self, report, departed_s):
        """Count a report for the interval in which its newest packet departed."""
        for one in self.intervals:
            if one.begin_s <= departed_s < one.end_s:
                one.acked += report.acked
                one.lost += report.losses
                one.app_limited |= report.app_limited
                if report.rtt_us:
                    one.times_s.append(departed_s)
                    one.rtts_s.append(report.rtt_us / 1e6)

    def _begin(self, flow, now_s, length_s, report):
        """Begin the next trial; without one, hold the rate until all trials have a result."""
        if not self.trials and not self.intervals:
            self._plan(length_s, report)
        if self.trials:
            rate_mbps = self.trials.popleft()
            self.current = Interval(rate_mbps, now_s, now_s + length_s)
            self.intervals.append(self.current)
            self._pace(flow, rate_mbps)
        else:
            self.current = None
            self._pace(flow, self.rate_mbps)

    def _plan(self, length_s, report):
        """Choose the rates of the next decision: one in the start, then two pairs, each in random
        order."""
        # An interval needs packets enough to show loss.
        packets = self.rate_mbps * 1e6 * length_s / (8 * report.mss)
        repeat = 1 if packets >= PACKETS_OF_AN_INTERVAL else 2
        if self.starting:
            self.trials.extend([self.rate_mbps] * repeat)
            return
        for _ in range(2):
            pair = [self.rate_mbps * (1 + STEP), self.rate_mbps * (1 - STEP)]
            self.random.shuffle(pair)
            self.trials.extend(pair)

    def _judge(self, interval):
        if interval.app_limited:  # What came back is not what its rate would have given.
            self.trials.clear()
            self.results.clear()
            return
        self.results.append((interval.rate_mbps, self._utility(interval)))
        if self.trials or self.intervals:
            return
        results, self.results = self.results, []
        if self.starting:
            self._double(sum(utility for _, utility in results) / len(results))
        elif len(results) == 4:
            self._decide(results)

    def _utility(self, interval):
        x, packets = interval.rate_mbps, interval.acked + interval.lost
        slope = interval.slope(self.errors)
        if abs(slope) < self.least_slope:
            slope = 0.0
        lost = interval.lost / packets if packets else 1.0  # Nothing came back.
        return x**self.exponent - self.latency * x * slope - self.loss * x * lost

    def _double(self, utility):
        """Double the rate while that helps."""
        if self.last_utility is None or utility > self.last_utility:
            self.last_utility = utility
            self.rate_mbps *= 2
        else:
            self.starting = False
            self.rate_mbps /= 2

    def _decide(self, results):
        """Follow the gradient if both pairs agree on its sign; try again if not."""
        gradients = [self._gradient(results[:2]), self._gradient(results[2:])]
        if gradients[0] * gradients[1] <= 0:
            self.direction = self.agreed = self.bounds = 0
            return
        gradient = sum(gradients) / 2
        direction = 1 if gradient > 0 else -1
        self.agreed = self.agreed + 1 if direction == self.direction else 1
        if direction != self.direction:
            self.bounds = 0
        self.direction = direction
        confidence = self.agreed if self.agreed <= 3 else 2 * self.agreed - 3
        self._move(confidence * GAIN_MBPS * gradient)

    def _gradient(self, pair):
        (faster, more), (slower, less) = sorted(pair, reverse=True)
        return (more - less) / (faster - slower)

    def _move(self, change_mbps):
        """Change the rate, within a bound that grows while it is met."""
        share = abs(change_mbps) / self.rate_mbps
        bound = FIRST_BOUND + self.bounds * MORE_BOUND
        if share > bound:
            self.bounds += 1
        else:
            self.bounds = max(0, ceil((share - FIRST_BOUND) / MORE_BOUND))
        allowed = min(share, bound) * self.rate_mbps
        self.rate_mbps += allowed if change_mbps > 0 else -allowed
        self.rate_mbps = max(LEAST_MBPS, self.rate_mbps)

    def _pace(self, flow, rate_mbps):
        flow.pacing_bps = rate_mbps * 1e6
