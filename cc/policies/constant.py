# SPDX-License-Identifier: Apache-2.0
"""A constant rate, or a constant window."""


class Constant:
    def __init__(self, rate_mbps: float = 0.0, cwnd: int = 10_000):
        self.rate_mbps, self.cwnd = rate_mbps, cwnd

    def start(self, flow):
        flow.pacing_bps, flow.cwnd = self.rate_mbps * 1e6, self.cwnd

    def report(self, flow, report):
        pass
