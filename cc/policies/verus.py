# SPDX-License-Identifier: Apache-2.0
"""Verus (Zaki et al., SIGCOMM 2015), after the paper: a window by a learned delay profile.

Every 5 ms a target delay moves: up by 2 ms while delays fall, down by 1 ms while they grow, down
by 2 ms while the delay is above R times the least one. The delay profile, a spline through the
delay that packets saw at each window, says which window causes the target. Verus spreads the
packets of an epoch over it; here TCP paces the window over a round trip.
"""

EPOCH_S = 0.005
SPLINE_S = 1.0
DOWN_MS, UP_MS = 1.0, 2.0  # delta 1 and 2
PEAK_WEIGHT = 0.875  # of the last estimate of the epoch's greatest delay
POINT_WEIGHT = 0.875  # of what a point of the profile was
AFTER_LOSS = 0.7  # M, as in the authors' program
SLOW_START_DELAYS = 15.0  # times the least delay, at which slow start ends
LEAST_WINDOW = 2.0
KNOTS = 24


class Profile:
    """Delay (ms) by window (packets): points that age, and a spline through them."""

    def __init__(self):
        self.points = {}  # window: delay
        self.windows, self.delays = [], []

    def add(self, window, delay_ms):
        known = self.points.get(window)
        weight = POINT_WEIGHT if known is not None else 0.0
        self.points[window] = weight * (known or 0.0) + (1 - weight) * delay_ms

    def interpolate(self):
        """Draw the spline again, through at most KNOTS means of neighbouring points."""
        points = sorted(self.points.items())
        if len(points) < 3:
            return
        size = -(-len(points) // KNOTS)
        groups = [points[at : at + size] for at in range(0, len(points), size)]
        means = [[sum(one) / len(group) for one in zip(*group, strict=True)] for group in groups]
        xs, ys = zip(*means, strict=True)
        first, last = int(xs[0]), int(xs[-1]) + 1
        step = max(1, (last - first) // 512)
        self.windows = list(range(first, last + step, step))
        self.delays = spline(xs, ys, self.windows) if len(xs) > 2 else []

    def window(self, delay_ms):
        """Return the greatest window that stays within a delay; beyond the profile it goes on as
        steeply as it rose on the whole."""
        if not self.delays:
            return None
        pairs = zip(reversed(self.windows), reversed(self.delays), strict=True)
        window = next((window for window, delay in pairs if delay <= delay_ms), None)
        if window is None:
            return self.windows[0] * delay_ms / self.delays[0]
        if window < self.windows[-1]:
            return window
        rise = (self.delays[-1] - min(self.delays)) / (self.windows[-1] - self.windows[0] or 1)
        beyond = (delay_ms - self.delays[-1]) / max(rise, 1e-3)
        return window + min(beyond, 0.25 * window)


def spline(xs, ys, at):
    """Return the natural cubic spline through (xs, ys) at the points `at`, ascending."""
    count = len(xs)
    widths = [xs[i + 1] - xs[i] for i in range(count - 1)]
    rises = [(ys[i + 1] - ys[i]) / widths[i] for i in range(count - 1)]
    # The tridiagonal system of second derivatives; both ends are straight.
    upper, right = [0.0] * count, [0.0] * count
    for i in range(1, count - 1):
        pivot = 2 * (widths[i - 1] + widths[i]) - widths[i - 1] * upper[i - 1]
        upper[i] = widths[i] / pivot
        right[i] = (6 * (rises[i] - rises[i - 1]) - widths[i - 1] * right[i - 1]) / pivot
    bends = [0.0] * count
    for i in range(count - 2, 0, -1):
        bends[i] = right[i] - upper[i] * bends[i + 1]
    terms, i = [], 0
    for x in at:
        while i < count - 2 and x > xs[i + 1]:
            i += 1
        to, of = x - xs[i], xs[i + 1] - x
        cubic = bends[i] * of**3 + bends[i + 1] * to**3
        left = (ys[i] / widths[i] - bends[i] * widths[i] / 6) * of
        right_side = (ys[i + 1] / widths[i] - bends[i + 1] * widths[i] / 6) * to
        terms.append(cubic / (6 * widths[i]) + left + right_side)
    return terms


class Verus:
    def __init__(self, r: float = 2.0):
        self.ratio = r
        self.profile = Profile()
        self.slow_start = True
        self.recovery_until = 0  # `delivered` from which on packets departed after the loss
        self.peak_ms = self.last_peak_ms = None
        self.greatest_ms = 0.0  # of this epoch
        self.epoch_s = self.spline_s = None
        self.target_ms = 0.0

    def start(self, flow):
        flow.period_ms, flow.cwnd = 1, 10

    def report(self, flow, report):
        now_s = report.time_ns / 1e9
        in_recovery = report.prior_delivered < self.recovery_until
        if report.rtt_us:
            self._measure(report, in_recovery)
        if report.losses and not in_recovery and report.ca_state != 4:
            self._lose(flow, report)
        elif in_recovery:
            flow.cwnd += report.acked / flow.cwnd
        elif self.slow_start:
            self._start_slowly(flow, report)
        if self.epoch_s is None:
            self.epoch_s = self.spline_s = now_s
        if now_s - self.spline_s >= SPLINE_S:
            self.spline_s = now_s
            self.profile.interpolate()
        if now_s - self.epoch_s >= EPOCH_S and self.greatest_ms:
            self.epoch_s = now_s
            self._end_epoch(flow, report, in_recovery)

    def state(self, flow, report):
        if report.ca_state == 4:  # a timeout: the profile is void
            self.profile, self.slow_start = Profile(), True
            self.recovery_until = 0
            flow.cwnd = LEAST_WINDOW

    def _measure(self, report, in_recovery):
        delay_ms = report.rtt_us / 1000
        self.greatest_ms = max(self.greatest_ms, delay_ms)
        if report.tx_inflight and not in_recovery:
            self.profile.add(report.tx_inflight, delay_ms)

    def _lose(self, flow, report):
        """Multiply the window by M; the profile does not learn until packets of then are acked."""
        if self.slow_start:
            self._leave_slow_start(report)
        window = report.tx_inflight or flow.cwnd
        flow.cwnd = max(LEAST_WINDOW, AFTER_LOSS * min(window, flow.cwnd))
        self.recovery_until = report.delivered + report.inflight

    def _start_slowly(self, flow, report):
        flow.cwnd += report.acked
        if report.rtt_us > SLOW_START_DELAYS * report.min_rtt_us:
            self._leave_slow_start(report)

    def _leave_slow_start(self, report):
        self.slow_start = False
        self.profile.interpolate()
        self.target_ms = min(report.srtt_us, self.ratio * report.min_rtt_us) / 1000

    def _end_epoch(self, flow, report, in_recovery):
        last = self.peak_ms if self.peak_ms is not None else self.greatest_ms
        self.peak_ms = PEAK_WEIGHT * last + (1 - PEAK_WEIGHT) * self.greatest_ms
        self.greatest_ms = 0.0
        if self.slow_start or in_recovery:
            return
        least_ms = report.min_rtt_us / 1000
        if self.peak_ms > self.ratio * least_ms:
            self.target_ms -= UP_MS
        elif self.peak_ms > last:
            self.target_ms -= DOWN_MS
        else:
            self.target_ms += UP_MS
        self.target_ms = max(least_ms, self.target_ms)
        window = self.profile.window(self.target_ms)
        if window is not None:
            flow.cwnd = max(LEAST_WINDOW, window)
