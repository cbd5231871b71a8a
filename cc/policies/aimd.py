# SPDX-License-Identifier: Apache-2.0
"""AIMD, which is TCP Reno (RFC 5681): a packet more each round trip, half after a loss, or after a
congestion mark (RFC 3168)."""

from ccplane import LOSS


class Aimd:
    def __init__(self, increase: float = 1.0, decrease: float = 0.5):
        self.increase, self.decrease = increase, decrease
        self.threshold = float("inf")
        self.until = 0  # Losses of packets that departed before this total belong to the last one.
        self.marked = 0  # packets with a congestion mark so far

    def report(self, flow, report):
        marks, self.marked = report.delivered_ce - self.marked, report.delivered_ce
        if (report.losses or marks) and report.prior_delivered >= self.until:
            self.threshold = flow.cwnd = max(2, flow.cwnd * self.decrease)
            self.until = report.delivered + report.inflight
        elif report.ca_state != LOSS and (report.ca_state or not report.cwnd_limited):
            return  # The window does not grow in recovery, nor while it does not limit the flow.
        elif flow.cwnd < self.threshold:
            flow.cwnd = min(flow.cwnd + report.acked, self.threshold)
        else:
            flow.cwnd += self.increase * report.acked / flow.cwnd

    def state(self, flow, report):
        if report.ca_state == LOSS:  # RFC 5681 section 3.1: one packet after a timeout
            self.threshold, flow.cwnd = max(2, flow.cwnd * self.decrease), 1
            # The next report has the losses of the timeout, and is of what departs now.
            self.until = report.delivered + report.inflight + 1
