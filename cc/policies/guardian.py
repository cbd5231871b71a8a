# SPDX-License-Identifier: Apache-2.0
"""Reminis as its authors ran it (Pazhooheshy et al., 2023): a Guardian beside the kernel.

Every 20 ms, whatever the RTT is, it multiplies the window by the paper's equations 1 to 5; between,
CUBIC (RFC 9438) or Reno (RFC 5681) move it. The congestion control `reminis` runs in the kernel
instead, once each least RTT (docs/reminis.md); this is for the question of what depends on that.

`ewma` and `jump_to_4` are what docs/reminis.md ascribes to the authors' code. With `falls_through`,
a block that is off leaves the delay to the next one, as the paper's algorithm 1 has it. Where that
algorithm and the text differ, the text decides, unless a parameter says otherwise: `mu_adds` (the
sum of the gradients is added to mu) and `rests_at_zero` (a gradient of 0 explores nothing). With
`nominal_si`, proactive slowdown looks one mRTT ahead, as the kernel's does, and not one measured
SI. `aimd` off leaves the window to the Guardian after slow start (section 5.2).
"""

import math
import random

from ccplane import LOSS, RECOVERY

LEAST_WINDOW = 4.0
MU_LIMIT = 8.0
LEAST_ROOM_US = 1000.0
CUBIC_C, CUBIC_BETA = 0.4, 0.7


class Guardian:
    def __init__(self, si_ms: float = 20.0, dtt_ms: float = 0.0, dtt_factor: float = 1.5,
                 base: str = "cubic", nde: str = "draw", ps: bool = True, cm: bool = True,
                 fresh_rtt: bool = False, ewma: bool = False, jump_to_4: bool = False,
                 falls_through: bool = False, mu_adds: bool = False, rests_at_zero: bool = False,
                 nominal_si: bool = False, aimd: bool = True):  # fmt: skip
        if base not in ("cubic", "reno") or nde not in ("draw", "mean", "off"):
            raise ValueError("base is cubic or reno, nde is draw, mean or off")
        if not dtt_factor > 1:
            raise ValueError("dtt_factor is above 1")
        self.si_ns, self.dtt_us, self.dtt_factor = si_ms * 1e6, dtt_ms * 1e3, dtt_factor
        self.nde, self.ps, self.cm, self.fresh = nde, ps, cm, fresh_rtt
        self.ewma, self.jump_to_4, self.falls_through = ewma, jump_to_4, falls_through
        self.mu_adds, self.rests_at_zero, self.nominal_si = mu_adds, rests_at_zero, nominal_si
        self.mean_cwnd = 0.0
        self.base = Fixed() if not aimd else Cubic() if base == "cubic" else Reno()
        self.random = random.Random()
        self.min_us, self.last_us, self.mu = math.inf, 0.0, 1.0
        self.began_ns, self.sum_us, self.count = 0, 0.0, 0
        self.slow_start, self.until, self.cut_until, self.reported_ns = True, 0, 0, 0
        self.marked = 0  # packets with a congestion mark so far
        self.threshold = 0.0  # Up to it the window grows in slow start after a timeout.

    def change(self, **parameters):
        """Switch blocks while flows run, as the authors did just before a drop."""
        for name, value in parameters.items():
            if name not in ("nde", "ps", "cm", "ewma", "jump_to_4", "falls_through"):
                raise ValueError(f"{name} is fixed when a flow begins")
            setattr(self, name, value)

    def start(self, flow):
        self.random.seed(flow.seed)
        flow.period_ms = 5

    def report(self, flow, report):
        if report.rtt_min_us:
            self.min_us = min(self.min_us, report.rtt_min_us)
        if report.app_limited and report.rtt_us:  # Idle from the last report to this departure.
            idle_ns = report.time_ns - report.rtt_us * 1e3 - self.reported_ns
            self.base.pass_idle_time(max(0.0, idle_ns / 1e9))
        marks, self.marked = report.delivered_ce - self.marked, report.delivered_ce
        if (report.losses or marks) and report.prior_delivered >= self.until:
            flow.cwnd = max(2.0, self.base.after_loss(flow.cwnd))
            self.until, self.slow_start = report.delivered + report.inflight, False
        elif report.ca_state == LOSS or (not report.ca_state and report.cwnd_limited):
            seconds = report.time_ns / 1e9
            flow.cwnd += (
                report.acked
                if self.slow_start or flow.cwnd < self.threshold
                else self.base.growth(flow.cwnd, report.acked, seconds, self.min_us / 1e6)
            )
        self.reported_ns = report.time_ns
        self.observe(flow, report)

    def observe(self, flow, report):
        """Add the report's RTTs to those of the SI, at whose end the Guardian acts."""
        if not report.acks or not report.rtt_avg_us:
            return
        if self.fresh and report.prior_delivered < self.cut_until:
            self.began_ns = report.time_ns
            return
        self.sum_us += report.rtt_avg_us * report.acks
        self.count += report.acks
        si_ns = self.si_ns or self.min_us * 1e3
        if not self.began_ns:
            self.began_ns = report.time_ns
        if report.time_ns - self.began_ns >= si_ns:
            elapsed_us = (report.time_ns - self.began_ns) / 1e3
            delay_us = self.sum_us / self.count
            self.began_ns, self.sum_us, self.count = report.time_ns, 0.0, 0
            # In recovery the kernel bounds the window by the flight (RFC 6937), which hardly grows.
            can_explore = report.cwnd_limited and report.ca_state != RECOVERY
            factor = self.factor(delay_us, elapsed_us, can_explore)
            if factor < 1:
                self.cut_until = report.delivered + report.inflight
            if factor != 1:
                flow.cwnd = max(min(flow.cwnd, LEAST_WINDOW), self.averaged(flow.cwnd * factor))

    def averaged(self, cwnd):
        """Return the window, with `ewma` between it and the mean of those before (gain 1/8)."""
        if not self.ewma:
            return cwnd
        self.mean_cwnd += (cwnd - self.mean_cwnd) / 8 if self.mean_cwnd else cwnd
        return (cwnd + self.mean_cwnd) / 2

    def factor(self, delay_us, elapsed_us, can_explore=True):
        """Return what the window is multiplied by: algorithms 1 and 2."""
        change_us = delay_us - self.last_us if self.last_us else 0.0
        gradient = change_us / elapsed_us
        self.last_us = delay_us
        step = gradient if self.mu_adds else -gradient
        self.mu = min(max(self.mu + step, -MU_LIMIT), MU_LIMIT)
        dtt_us = self.dtt_factor * self.min_us
        if self.dtt_us:  # As in the kernel: section 6, always above mRTT.
            dtt_us = max(self.dtt_us, self.min_us + max(self.min_us / 8, LEAST_ROOM_US))
        if delay_us > dtt_us:
            self.slow_start = False
            if self.cm:
                return self.cut(delay_us, dtt_us)
            if not self.falls_through:
                return 1.0
        if self.slow_start:
            return 1.0
        if change_us > 0:
            expected_us = delay_us + gradient * (self.min_us if self.nominal_si else elapsed_us)
            return 2 ** min(0.0, self.safe_zone(expected_us, dtt_us)) if self.ps else 1.0
        rests = self.rests_at_zero and not change_us
        if self.nde == "off" or rests or not can_explore:
            return 1.0
        spread = 0.0 if self.nde == "mean" else math.sqrt(abs(self.mu) / 4)
        return 2 ** (1 / (1 + math.exp(-self.random.gauss(self.mu, spread))))

    def cut(self, delay_us, dtt_us):
        if self.jump_to_4 and delay_us >= 2 * self.min_us:
            return 0.0
        return 2 ** (self.safe_zone(delay_us, dtt_us) - 1)

    def safe_zone(self, delay_us, dtt_us):
        return 1 - (delay_us - self.min_us) / max(dtt_us - self.min_us, 1.0)

    def state(self, flow, report):
        if report.ca_state == LOSS:  # RFC 5681 section 3.1: one packet after a timeout
            self.threshold = max(2.0, self.base.after_loss(flow.cwnd))
            flow.cwnd, self.slow_start = 1.0, False
            # The next report has the losses of the timeout, and is of what departs now.
            self.until = report.delivered + report.inflight + 1


class Reno:
    def after_loss(self, cwnd):
        return cwnd / 2

    def growth(self, cwnd, acked, _seconds, _min_s):
        return acked / cwnd

    def pass_idle_time(self, seconds):
        pass


class Fixed:
    """No AIMD: the window stays as it is."""

    def after_loss(self, cwnd):
        return cwnd

    def growth(self, _cwnd, _acked, _seconds, _min_s):
        return 0.0

    def pass_idle_time(self, seconds):
        pass


class Cubic:
    """The kernel's, whose curve goes on whatever else moves the window."""

    def __init__(self):
        self.most, self.epoch_s, self.friendly = 0.0, None, 0.0

    def after_loss(self, cwnd):
        lower = cwnd < self.most
        self.most = cwnd * (1 + CUBIC_BETA) / 2 if lower else cwnd  # Fast convergence.
        self.epoch_s = None
        return cwnd * CUBIC_BETA

    def pass_idle_time(self, seconds):
        """Shift the curve, as Linux does: the window grows by the time that it was used."""
        if self.epoch_s is not None:
            self.epoch_s += seconds

    def growth(self, cwnd, acked, seconds, min_s):
        if self.epoch_s is None:
            self.epoch_s, self.friendly = seconds, cwnd
            self.origin = max(cwnd, self.most)
            self.inflexion_s = ((self.origin - cwnd) / CUBIC_C) ** (1 / 3)
        elapsed_s = seconds + min_s - self.epoch_s
        target = self.origin + CUBIC_C * (elapsed_s - self.inflexion_s) ** 3
        self.friendly += 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) * acked / cwnd
        # A packet for two that are acknowledged, at most: after a cut it takes round trips.
        return min(max(target, self.friendly, cwnd) / cwnd - 1, 0.5) * acked
