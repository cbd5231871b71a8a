# SPDX-License-Identifier: Apache-2.0
"""Keep 20 ms of queue: the policy of the tutorial (docs/congestion-controls.md)."""

from ccplane.problem import PolicyError


class Tutorial:
    def __init__(self, queue_ms: float = 20.0):
        if not queue_ms > 0:
            raise PolicyError("queue_ms is above 0", "write queue_ms=20")
        self.target_ms = queue_ms

    def start(self, flow):
        flow.cwnd = 10

    def report(self, flow, report):  # of 10 ms of ACKs
        if not report.rtt_min_us:
            return
        queue_ms = (report.rtt_min_us - report.min_rtt_us) / 1000
        step = max(-0.5, (self.target_ms - queue_ms) / self.target_ms)
        flow.cwnd = max(4, flow.cwnd + report.acked * step)
