# SPDX-License-Identifier: Apache-2.0
"""A constant rate, or a constant window."""

from ccplane.problem import PolicyError


class Constant:
    def __init__(self, rate_mbps: float = 0.0, cwnd: int = 10_000):
        if cwnd < 1:
            raise PolicyError("cwnd is 1 or more", "write cwnd=100")
        self.rate_mbps, self.cwnd = rate_mbps, cwnd

    def start(self, flow):
        flow.pacing_bps, flow.cwnd = self.rate_mbps * 1e6, self.cwnd

    def report(self, flow, report):
        pass
