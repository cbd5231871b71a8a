# SPDX-License-Identifier: Apache-2.0
"""A sender that knows what the link will carry: how near to the bound TCP's window can get.

In virtual time the channel depends on the seed, not on the traffic, so that the capacity of the
next round trips is known before they are. What is sent at t reaches the queue after the path's
delay, and is to have left it `delay_ms` later: the window is what the link carries until then, from
when the data left it that is acknowledged now. HARQ takes a share of that capacity, which depends
on what is sent, and is measured. Only in virtual time (docs/bound.md).
"""

import bisect
import csv
import time
from collections import deque
from itertools import pairwise
from pathlib import Path

KNOWS_THE_LINK = True
"""ccu gives `capacity`, `start`, `there_ms` and `back_ms` to policies that say so."""

LEAST_WINDOW = 2.0
"""An ACK is what makes TCP send: without a packet in flight an outage would have no end."""
HEADERS = 52
"""IPv4 and TCP with time stamps, bytes."""
LONGEST_GAP_S = 0.02
"""The longest pause between ACKs that uplink slots or HARQ make; a longer one is an outage."""
MEASURED_S = 0.1
"""Some ten rounds of HARQ: long enough for a share that no single block decides."""
MEASUREMENTS = 10
GROWTH = 1.1
"""A queue that was empty for a while makes the measured share too small; it grows again by this."""
ACKS = 20


class Oracle:
    def __init__(self, delay_ms: float = 5.0, capacity: Path = Path(), start: Path = Path(),
                 there_ms: float = 0.0, back_ms: float = 0.0):  # fmt: skip
        if delay_ms < 0:
            raise ValueError("delay_ms is not negative")
        self.delay_s, self.there_s, self.back_s = delay_ms / 1e3, there_ms / 1e3, back_ms / 1e3
        self.capacity, self.start_file = capacity, start
        self.times, self.carried, self.link_s = [0.0], [0.0], 0.0
        self.acks_s: deque[float] = deque(maxlen=ACKS)
        self.shares: deque[float] = deque(maxlen=MEASUREMENTS)
        self.began, self.most = None, 0.0

    def start(self, flow):
        self.read()
        flow.period_ms = 0  # Each ACK moves the window.
        now = time.monotonic() - self.link_s
        self.act(flow, now, self.back_s, 0, LONGEST_GAP_S)

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
        now = report.time_ns / 1e9 - self.link_s
        packet = flow.mss + HEADERS
        back = max(self.back_s, report.min_rtt_us / 1e6 - self.there_s)
        self.note_share(now - back, report.delivered * packet, report.inflight * packet)
        self.acks_s.append(now)
        gaps = [later - one for one, later in pairwise(self.acks_s)]
        gap = min(LONGEST_GAP_S, max(gaps, default=0.0)) or LONGEST_GAP_S
        self.act(flow, now, back, report.inflight * packet, gap)

    def note_share(self, left, delivered, inflight):
        """Note which share of the bytes expected until `left` were delivered in a while in which
        the window was in use: at first the receiver's is smaller."""
        expected = self.until(left)
        if not self.began or inflight < self.most / 2:
            self.began = left, expected, delivered
        began, expected_then, delivered_then = self.began
        if left > began + MEASURED_S:
            if expected > expected_then:
                self.shares.append((delivered - delivered_then) / (expected - expected_then))
            self.began = left, expected, delivered

    def act(self, flow, now, back, inflight, gap):
        """Have in flight by the next ACK what the link carries until the wait would be too long."""
        share = min(1.0, GROWTH * max(self.shares, default=1.0))
        ahead = self.until(now + gap + self.there_s + self.delay_s)
        most = share * (ahead - self.until(now - back))
        self.most = most
        flow.cwnd = max(LEAST_WINDOW, most / (flow.mss + HEADERS))
        # Linux sends a packet no sooner than the one before would take at this rate: it is at least
        # one in `gap`, so that the next ACK is not in vain.
        flow.pacing_bps = max(flow.mss + HEADERS, most - inflight) * 8 / gap

    def until(self, t):
        """Return the bytes that the link carries until `t`."""
        index = bisect.bisect_right(self.times, t)
        if index == 0:
            return 0.0
        if index == len(self.times):
            return self.carried[-1]
        share = (t - self.times[index - 1]) / (self.times[index] - self.times[index - 1])
        return self.carried[index - 1] + share * (self.carried[index] - self.carried[index - 1])
