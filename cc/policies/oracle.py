# SPDX-License-Identifier: Apache-2.0
"""A sender that knows what the link will carry: how near to the bound TCP's window can get.

In virtual time the channel depends on the seed, not on the traffic, so that the capacity of the
next round trips is known before they are. What is sent at t reaches the queue after the path's
delay, and is to have left it `delay_ms` later: the window is what the link carries until then, from
when the data left it that is acknowledged now. Only in virtual time (docs/bound.md).
"""

import bisect
import csv
import time
from pathlib import Path

KNOWS_THE_LINK = True
"""ccu gives `capacity`, `start`, `there_ms` and `back_ms` to policies that say so."""

LEAST_WINDOW = 2.0
"""An ACK is what makes TCP send: without a packet in flight an outage would have no end."""


class Oracle:
    def __init__(self, delay_ms: float = 2.0, capacity: Path = Path(), start: Path = Path(),
                 there_ms: float = 0.0, back_ms: float = 0.0):  # fmt: skip
        if delay_ms < 0:
            raise ValueError("delay_ms is not negative")
        self.delay_s, self.there_s, self.back_s = delay_ms / 1e3, there_ms / 1e3, back_ms / 1e3
        self.capacity, self.start_file = capacity, start
        self.times, self.carried, self.link_s = [0.0], [0.0], 0.0

    def start(self, flow):
        self.read()
        flow.period_ms = 0  # Each ACK moves the window.
        self.act(flow, time.monotonic())

    def read(self):
        """Read the bytes that the link carries until each time, and when it began."""
        with self.capacity.open(newline="") as file:
            for row in csv.DictReader(file):
                self.times.append(float(row["until_s"]))
                self.carried.append(float(row["bytes"]))
        began_s = int(self.start_file.read_text()) / 1e9
        # The hosts share a clock with the link: both of its forms differ by a constant.
        self.link_s = began_s - (time.time_ns() - time.monotonic_ns()) / 1e9

    def report(self, flow, report):
        self.act(flow, report.time_ns / 1e9)

    def act(self, flow, now_s):
        t = now_s - self.link_s
        # Sent by now, and gone from the queue in time; acknowledged by now.
        most = self.until(t + self.there_s + self.delay_s) - self.until(t - self.back_s)
        packet = flow.mss + 52  # IPv4 and TCP headers with time stamps
        flow.cwnd = max(LEAST_WINDOW, most / packet)
        ahead = self.until(t + self.there_s + 0.01) - self.until(t + self.there_s)
        flow.pacing_bps = max(2e5, 1.5 * ahead * 8 / 0.01)

    def until(self, t):
        """Return the bytes that the link carries until `t`."""
        index = bisect.bisect_right(self.times, t)
        if index == 0:
            return 0.0
        if index == len(self.times):
            return self.carried[-1]
        share = (t - self.times[index - 1]) / (self.times[index] - self.times[index - 1])
        return self.carried[index - 1] + share * (self.carried[index] - self.carried[index - 1])
