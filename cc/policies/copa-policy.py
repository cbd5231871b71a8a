# SPDX-License-Identifier: Apache-2.0
"""Copa (Arun and Balakrishnan, NSDI 2018) as a policy: written from the paper a second time, to
compare `cc/bpf/copa.bpf.c` with. That file begins with the model, and has less cost at each ACK.
"""

from collections import deque

from ccplane import LOSS
from ccplane.problem import PolicyError

FIRST_WINDOW, LEAST_WINDOW = 10.0, 2.0
RTT_MIN_S = 10.0
STEADY_ROUNDS = 3  # in one direction, after which the velocity doubles
RTT_MAX_ROUNDS = 4
NEARLY_EMPTY_ROUNDS, NEARLY_EMPTY = 5, 0.1
LARGEST_VELOCITY = 65536
LARGEST_INVERSE = 1000.0  # of 1/delta


class Extreme:
    """The least value (sign 1) or the largest (sign -1) of the last so many seconds."""

    def __init__(self, sign):
        self.sign, self.kept = sign, deque()  # (time, value): each further from it than the last

    def of(self, now_s, length_s, value):
        while self.kept and self.sign * self.kept[-1][1] >= self.sign * value:
            self.kept.pop()
        self.kept.append((now_s, value))
        while self.kept[0][0] < now_s - length_s:
            self.kept.popleft()
        return self.kept[0][1]


class Copa:
    def __init__(self, delta: float = 0.5, compete: bool = True):
        if not delta > 0:
            raise PolicyError("delta is above 0", "write delta=0.5")
        self.least_inverse = self.inverse_delta = 1 / delta
        self.compete = compete
        self.least, self.standing, self.largest = Extreme(1), Extreme(1), Extreme(-1)
        self.round_ends = 0  # total of delivered packets
        self.rounds_not_empty = 0
        self.emptied, self.lost, self.limited = True, False, False
        self.before_timeout = None  # (window, whether in slow start)
        self.begin(FIRST_WINDOW)

    def begin(self, window):
        self.window = self.window_before = window
        self.velocity, self.rounds_steady = 1, 0
        self.slow_start, self.upwards = True, False

    def start(self, flow):
        flow.period_ms, flow.cwnd = 0, FIRST_WINDOW
        flow.ssthresh = 1 << 20  # paced as in slow start, 2W, until there is an RTT

    def report(self, flow, report):
        self.lost |= report.losses > 0
        self.limited |= report.cwnd_limited
        if not report.rtt_us:
            return
        now_s, srtt_s, rtt_s = report.time_ns / 1e9, report.srtt_us / 1e6, report.rtt_min_us / 1e6
        least_s = self.least.of(now_s, RTT_MIN_S, rtt_s)
        standing_s = self.standing.of(now_s, srtt_s / 2, rtt_s)
        largest_s = self.largest.of(now_s, RTT_MAX_ROUNDS * srtt_s, report.rtt_us / 1e6)
        queue_s = standing_s - least_s
        self.emptied |= queue_s <= NEARLY_EMPTY * (largest_s - least_s)
        if report.prior_delivered >= self.round_ends:
            self.round_ends = report.delivered
            self.end_round()
            self.limited = report.cwnd_limited
        if self.limited:
            self.move(queue_s * self.window <= standing_s * self.inverse_delta, report.acked)
        flow.cwnd = self.window
        flow.pacing_bps = 2 * self.window * report.mss * 8 / standing_s

    def state(self, flow, report):
        if report.ca_state == LOSS:
            self.before_timeout = self.window, self.slow_start
            self.begin(LEAST_WINDOW)
            flow.cwnd = LEAST_WINDOW
        else:
            self.before_timeout = None

    def undo(self, flow, _report):
        """The timeout was none: go on with the window from before it."""
        self.lost = False
        if self.before_timeout:
            before, self.slow_start = self.before_timeout
            flow.cwnd = self.window = self.window_before = max(self.window, before)
            self.before_timeout = None

    def end_round(self):
        """Once a round trip: the velocity, by the way that the window went, and the mode."""
        if not self.slow_start:
            upwards = self.window > self.window_before
            if upwards != self.upwards:
                self.turn(upwards)
            else:
                self.rounds_steady += 1
                if self.rounds_steady >= STEADY_ROUNDS:
                    self.velocity = min(2 * self.velocity, LARGEST_VELOCITY)
            self.window_before = self.window
        self.rounds_not_empty = 0 if self.emptied else self.rounds_not_empty + 1
        if not self.compete or self.rounds_not_empty < NEARLY_EMPTY_ROUNDS:
            self.inverse_delta = self.least_inverse
        else:
            wanted = self.inverse_delta / 2 if self.lost else self.inverse_delta + 1
            self.inverse_delta = min(max(wanted, self.least_inverse), LARGEST_INVERSE)
        self.emptied = self.lost = False

    def turn(self, upwards):
        self.upwards, self.velocity, self.rounds_steady = upwards, 1, 0

    def move(self, slow, acked):
        """Change the window towards the target rate, never faster than slow start."""
        if self.slow_start and slow:
            self.window += acked
            return
        self.slow_start = False
        step = acked * min(1.0, self.velocity * self.inverse_delta / self.window)
        self.window = max(LEAST_WINDOW, self.window + (step if slow else -step))
        if slow != self.upwards and self.velocity > 1:
            self.velocity, self.rounds_steady = 1, 0
