# SPDX-License-Identifier: GPL-2.0-only
"""Reminis in floating point, written from the paper (sections 3.1-3.3, equations 1-5).

docs/reminis.md lists the decisions where the paper leaves questions open; comments mark them here.
Additions are those of docs/reminis.md for a radio link, off by default. This file does not use the
C core.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, sqrt
from statistics import NormalDist

MU_LIMIT = 8.0


@dataclass(frozen=True)
class Additions:
    mean_base: bool = False
    nde_bounded: bool = False
    cm_drain: bool = False
    new_path: bool = False


@dataclass
class Verdict:
    zone: int
    action: str
    delay_us: int
    dtt_us: int
    gradient: float
    mu: float
    factor: float  # factor of the window, before any limit
    excess_us: float  # expected delay beyond DTT (zone 2), or delay beyond DTT (zone 3)


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def uniform(word: int) -> float:
    """Return the probability that a 32-bit word represents; the highest bit is the sign."""
    tail = ((word & 0x7FFFFFFF) + 0.5) / 2**32
    return tail if word >> 31 else 1 - tail


class Paper:
    """One flow; delays are whole µs, as the kernel measures them."""

    def __init__(
        self, dtt_us: int = 0, factor: float = 1.5, additions: Additions | None = None
    ) -> None:
        self.additions = additions or Additions()
        self.base_us = 0
        self.given_us = dtt_us
        self.factor = factor
        self.mu = 1.0
        self.min_rtt_us = 0
        self.anchor_us = 0
        self.previous_us = 0
        self.cut_us: int | None = None
        self.stuck = 0

    def sample(self, rtt_us: int) -> None:
        rtt_us = max(rtt_us, 1)
        self.min_rtt_us = min(self.min_rtt_us or rtt_us, rtt_us)
        if not self.additions.mean_base:
            self.base_us = self.min_rtt_us

    def lower_base(self, delay_us: int, samples: int) -> None:
        """The least d; the mean of less than 8 samples lowers it in proportion."""
        fall_us = max((self.base_us or delay_us) - delay_us, 0)
        self.base_us = (self.base_us or delay_us) - fall_us * min(samples, 8) // 8

    def is_fresh(self, sent_us: int) -> bool:
        """Appendix E (steps 3 to 5, 7 to 9): the next d is the queue that the last cut left."""
        return self.cut_us is None or sent_us >= self.cut_us

    def dtt(self) -> int:
        if not self.given_us:  # section 3.1; at least 1 µs of room
            return max(floor(self.base_us * self.factor), self.base_us + 1)
        return max(self.given_us, self.base_us + max(self.base_us // 8, 1000))  # section 6

    def safe_zone(self, delay_us: float) -> float:  # equation 1
        return 1 - (delay_us - self.base_us) / (self.dtt() - self.base_us)

    def infer_mu(self, delay_us: int, gradient: float) -> float:
        mu = self.mu - gradient
        if self.anchor_us and (self.anchor_us != self.base_us or not self.previous_us):
            mu = 1 - (delay_us - self.base_us) / self.base_us
        return min(max(mu, -MU_LIMIT), MU_LIMIT)

    def decide(self, samples_us: list[int], elapsed_us: int, word: int, cwnd: int) -> Verdict:
        """Apply algorithm 1 to one SI, which had this window."""
        delay_us = floor(sum(max(s, 1) for s in samples_us) / len(samples_us) + 0.5)
        if self.additions.mean_base:
            self.lower_base(delay_us, len(samples_us))
        change_us = delay_us - self.previous_us if self.previous_us else 0
        gradient = change_us / elapsed_us
        self.mu = self.infer_mu(delay_us, gradient)
        dtt_us = self.dtt()
        verdict = Verdict(1, "none", delay_us, dtt_us, gradient, self.mu, 1.0, 0.0)
        if delay_us > dtt_us:
            self.mitigate(verdict)
        elif change_us > 0:
            self.slow_down(verdict)
        else:
            self.explore(verdict, word)
        self.previous_us = delay_us
        self.anchor_us = self.base_us
        self.notice_path(verdict, cwnd)
        return verdict

    def notice_path(self, v: Verdict, cwnd: int) -> None:
        """Forget what was measured after 8 SIs above DTT with at most 8 segments in flight."""
        self.stuck = self.stuck + 1 if v.zone == 3 and cwnd <= 8 else 0
        if self.additions.new_path and self.stuck == 8:
            self.stuck = self.min_rtt_us = self.base_us = self.previous_us = 0

    def mitigate(self, v: Verdict) -> None:  # equation 5
        v.zone, v.action = 3, "cm"
        v.factor = 2.0 ** (self.safe_zone(v.delay_us) - 1)
        if self.additions.cm_drain:
            v.factor = max(v.factor, self.base_us / v.delay_us)
        v.excess_us = v.delay_us - v.dtt_us

    def slow_down(self, v: Verdict) -> None:  # equations 3 and 4
        v.zone = 2
        expected_us = v.delay_us + v.gradient * self.min_rtt_us
        v.excess_us = expected_us - v.dtt_us
        if v.excess_us > 0:
            v.action = "ps"
            v.factor = 2.0 ** min(0.0, self.safe_zone(expected_us))

    def explore(self, v: Verdict, word: int) -> None:  # equation 2; a variance cannot be negative
        middle_us = self.base_us + (v.dtt_us - self.base_us) // 2
        if self.additions.nde_bounded and middle_us <= v.delay_us:
            return
        v.action = "nde"
        x = NormalDist(0, 1).inv_cdf(uniform(word)) * sqrt(abs(v.mu) / 4) + v.mu
        v.factor = 2.0 ** sigmoid(x)
        if self.additions.nde_bounded:
            v.factor = min(v.factor, middle_us / v.delay_us)
