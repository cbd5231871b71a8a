# SPDX-License-Identifier: Apache-2.0
"""Verus (Zaki et al., SIGCOMM 2015), after the paper: a window by a learned delay profile.

Time is divided into epochs of 5 ms. After each, a target delay moves (the paper's equation for
D_est): up by delta 2 while the greatest delay of epochs falls, down by delta 1 while it rises, down
by delta 2 while it is above R times the least delay of the connection. The delay profile, a spline
through the delays that packets saw at each window, says which window causes the target delay. Verus
spreads the packets of an epoch over it; here TCP paces the window over a round trip.
"""

EPOCH_S = 0.005
SPLINE_S = 1.0  # between two fits of the spline
DELTA_1_MS, DELTA_2_MS = 1.0, 2.0
PEAK_WEIGHT = 0.875  # alpha: of the last estimate of the epochs' greatest delay
POINT_WEIGHT = 0.875  # of a point's earlier delays in its moving average
AFTER_LOSS = 0.7  # M, as in the authors' program
SLOW_START_DELAYS = 15.0  # times the least delay, at which slow start ends
LEAST_WINDOW = 2.0
KNOTS = 24  # of the spline: more would follow noise
MOST_WINDOWS = 512  # at which the spline is evaluated, about
MOST_GROWTH = 0.25  # of the window, beyond the greatest one of the profile
TCP_CA_LOSS = 4  # Linux's state after a retransmission timeout


class Profile:
    """The delay (ms) by window (packets): a moving average for each window that was in flight, and
    a spline through them."""

    def __init__(self):
        self.points = {}  # the delay by window, as measured
        self.windows, self.delays = [], []  # of the spline, ascending windows

    def add(self, window, delay_ms):
        known = self.points.get(window)
        weight = POINT_WEIGHT if known is not None else 0.0
        self.points[window] = weight * (known or 0.0) + (1 - weight) * delay_ms

    def interpolate(self):
        """Fit the spline again, through at most KNOTS means of neighbouring points."""
        points = sorted(self.points.items())
        if len(points) < 3:
            return
        size = -(-len(points) // KNOTS)
        groups = [points[at : at + size] for at in range(0, len(points), size)]
        means = [[sum(one) / len(group) for one in zip(*group, strict=True)] for group in groups]
        xs, ys = zip(*means, strict=True)
        first, last = int(xs[0]), int(xs[-1]) + 1
        step = max(1, (last - first) // MOST_WINDOWS)
        self.windows = list(range(first, last + step, step))
        self.delays = spline(xs, ys, self.windows) if len(xs) > 2 else []

    def window(self, delay_ms):
        """Return the greatest window whose delay is `delay_ms` at most; None without a profile.

        The profile is continued below in proportion, and above with its mean slope."""
        if not self.delays:
            return None
        pairs = zip(reversed(self.windows), reversed(self.delays), strict=True)
        window = next((window for window, delay in pairs if delay <= delay_ms), None)
        if window is None:
            return self.windows[0] * delay_ms / self.delays[0]
        if window < self.windows[-1]:
            return window
        slope = (self.delays[-1] - min(self.delays)) / (self.windows[-1] - self.windows[0] or 1)
        beyond = (delay_ms - self.delays[-1]) / max(slope, 1e-3)  # a flat profile has no slope
        return window + min(beyond, MOST_GROWTH * window)


def spline(xs, ys, at):
    """Return the natural cubic spline through (xs, ys) at the points `at`, both ascending.

    A policy runs wherever Python does, so this is written out instead of taken from SciPy.
    """
    count = len(xs)
    widths = [xs[i + 1] - xs[i] for i in range(count - 1)]
    slopes = [(ys[i + 1] - ys[i]) / widths[i] for i in range(count - 1)]
    # The second derivatives at the knots solve a tridiagonal system (Thomas algorithm: eliminate
    # downwards, substitute upwards); those of both ends are 0.
    upper, right = [0.0] * count, [0.0] * count
    for i in range(1, count - 1):
        pivot = 2 * (widths[i - 1] + widths[i]) - widths[i - 1] * upper[i - 1]
        upper[i] = widths[i] / pivot
        right[i] = (6 * (slopes[i] - slopes[i - 1]) - widths[i - 1] * right[i - 1]) / pivot
    second = [0.0] * count
    for i in range(count - 2, 0, -1):
        second[i] = right[i] - upper[i] * second[i + 1]
    values, i = [], 0
    for x in at:
        while i < count - 2 and x > xs[i + 1]:
            i += 1  # x is in the interval from knot i to the next
        after, before = x - xs[i], xs[i + 1] - x
        cubic = second[i] * before**3 + second[i + 1] * after**3
        of_left = (ys[i] / widths[i] - second[i] * widths[i] / 6) * before
        of_right = (ys[i + 1] / widths[i] - second[i + 1] * widths[i] / 6) * after
        values.append(cubic / (6 * widths[i]) + of_left + of_right)
    return values


class Verus:
    def __init__(self, r: float = 2.0):
        self.ratio = r
        self.profile = Profile()
        self.slow_start = True
        self.recovery_until = 0  # `delivered` at the departure of the first packet after the loss
        self.peak_ms = None  # D_max, the moving average of the epochs' greatest delays
        self.greatest_ms = 0.0  # delay of this epoch
        self.epoch_s = self.spline_s = None  # when this epoch began, when the spline was fitted
        self.target_ms = 0.0  # D_est

    def start(self, flow):
        flow.period_ms, flow.cwnd = 1, 10

    def report(self, flow, report):
        now_s = report.time_ns / 1e9
        in_recovery = report.prior_delivered < self.recovery_until
        if report.rtt_us:
            self._measure(report, in_recovery)
        if report.losses and not in_recovery and report.ca_state != TCP_CA_LOSS:
            self._lose(flow, report)
        elif in_recovery:
            flow.cwnd += report.acked / flow.cwnd  # as TCP: a packet per round trip
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
        if report.ca_state == TCP_CA_LOSS:  # the profile is void
            self.profile, self.slow_start = Profile(), True
            self.recovery_until = 0
            flow.cwnd = LEAST_WINDOW

    def _measure(self, report, in_recovery):
        delay_ms = report.rtt_us / 1000
        self.greatest_ms = max(self.greatest_ms, delay_ms)
        if report.tx_inflight and not in_recovery:
            self.profile.add(report.tx_inflight, delay_ms)

    def _lose(self, flow, report):
        """Multiply the window by M; the profile learns again from packets sent after the loss."""
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
        last_peak_ms = self.peak_ms if self.peak_ms is not None else self.greatest_ms
        self.peak_ms = PEAK_WEIGHT * last_peak_ms + (1 - PEAK_WEIGHT) * self.greatest_ms
        self.greatest_ms = 0.0
        if self.slow_start or in_recovery:
            return
        least_ms = report.min_rtt_us / 1000
        if self.peak_ms > self.ratio * least_ms:
            self.target_ms -= DELTA_2_MS
        elif self.peak_ms > last_peak_ms:
            self.target_ms -= DELTA_1_MS
        else:
            self.target_ms += DELTA_2_MS
        self.target_ms = max(least_ms, self.target_ms)
        window = self.profile.window(self.target_ms)
        if window is not None:
            flow.cwnd = max(LEAST_WINDOW, window)
