# SPDX-License-Identifier: Apache-2.0
"""A sender that knows what the link will carry: how near to the bound TCP's window can get.

In virtual time the channel depends on the seed, not on the traffic, so that the capacity of the
next round trips is known before they are. What is sent at t reaches the queue after the path's
delay, and is to have left it `delay_ms` later: the window is what the link carries until then, from
when the data left it that is acknowledged now. With `share` below 1, no more is sent until the next
ACK than this share of what the link carries meanwhile: packets find the queue empty. HARQ takes a
part of the capacity, which depends on what is sent, and is measured. Only in virtual time
(docs/bound.md).
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
BURST_S = 1 / 1024
"""The kernel sends as much at once as the pacing rate allows in this time (sk_pacing_shift)."""


class Oracle:
    def __init__(self, delay_ms: float = 5.0, share: float = 1.0, capacity: Path = Path(),
                 start: Path = Path(), there_ms: float = 0.0, back_ms: float = 0.0):  # fmt: skip
        if delay_ms < 0:
            raise ValueError("delay_ms is not negative")
        if not 0 < share <= 1:
            raise ValueError("share is above 0 and at most 1")
        self.delay_s, self.there_s, self.back_s = delay_ms / 1e3, there_ms / 1e3, back_ms / 1e3
        self.share, self.capacity, self.start_file = share, capacity, start
        self.link, self.surely, self.link_s = Carried(), Carried(), 0.0
        self.acks_s: deque[float] = deque(maxlen=ACKS)
        self.usable: deque[float] = deque(maxlen=MEASUREMENTS)
        self.began, self.most = None, 0.0
        self.left, self.sent, self.at = 0.0, 0.0, 0.0

    def start(self, flow):
        self.read()
        flow.period_ms = 0  # Each ACK moves the window.
        now = time.monotonic() - self.link_s
        self.act(flow, now, self.back_s, 0, 0, LONGEST_GAP_S)

    def read(self):
        """Read what the link carries, and when it began."""
        with self.capacity.open(newline="") as file:
            for row in csv.DictReader(file):
                self.link.add(float(row["until_s"]), float(row["bytes"]))
                self.surely.add(float(row["until_s"]), float(row["certain_bytes"]))
        began_s = int(self.start_file.read_text()) / 1e9
        # The hosts share a clock with the link: both of its forms differ by a constant.
        self.link_s = began_s - (time.time_ns() - time.monotonic_ns()) / 1e9

    def report(self, flow, report):
        now = report.time_ns / 1e9 - self.link_s
        packet = flow.mss + HEADERS
        back = max(self.back_s, report.min_rtt_us / 1e6 - self.there_s)
        delivered, inflight = report.delivered * packet, report.inflight * packet
        self.note_usable(now - back, delivered, inflight)
        self.acks_s.append(now)
        gaps = [later - one for one, later in pairwise(self.acks_s)]
        gap = min(LONGEST_GAP_S, max(gaps, default=0.0)) or LONGEST_GAP_S
        self.left -= report.losses * packet  # They were to leave, and others have in their place.
        self.act(flow, now, back, delivered, inflight, gap)

    def note_usable(self, left, delivered, inflight):
        """Note which share of the bytes expected until `left` were delivered in a while in which
        the window was in use: at first the receiver's is smaller."""
        expected = self.link.until(left)
        if not self.began or inflight < self.most / 2:
            self.began = left, expected, delivered
        began, expected_then, delivered_then = self.began
        if left > began + MEASURED_S:
            if expected > expected_then:
                self.usable.append((delivered - delivered_then) / (expected - expected_then))
            self.began = left, expected, delivered

    def act(self, flow, now, back, delivered, inflight, gap):
        """Have in flight by the next ACK what the link carries until the wait would be too long."""
        # No more than `share` of what the link carries can be delivered, as no more is sent.
        usable = min(1.0, GROWTH * max(self.usable, default=self.share) / self.share)
        arrives, sent, packet = now + self.there_s, delivered + inflight, flow.mss + HEADERS
        left = delivered + usable * self.link.between(now - back, arrives)
        left = max(left, self.left_surely(delivered, sent, arrives))
        room = left + usable * self.link.between(arrives, arrives + gap + self.delay_s) - sent
        if self.share < 1:
            meanwhile = usable * self.link.between(arrives, arrives + gap)
            room = min(room, self.share * meanwhile)
        self.most = inflight + room
        # Linux sends a packet no sooner than the one before would take at this rate: it is at least
        # one in `gap`, so that the next ACK is not in vain.
        rate = max(packet, room) / gap
        flow.pacing_bps = rate * 8
        if self.share < 1:  # The rate is the limit.
            room = max(room, rate * BURST_S)
        flow.cwnd = max(LEAST_WINDOW, (inflight + room) / packet)

    def left_surely(self, delivered, sent, arrives):
        """Return the bytes that have left the queue by `arrives` for certain, though their ACKs may
        wait on the way back; what was sent since the last ACK may still be in it."""
        carried = self.surely.between(self.at, arrives)
        self.left = max(delivered, min(self.sent, self.left + carried))
        self.sent, self.at = sent, arrives
        return self.left


class Carried:
    """The bytes that a link carries from its begin on."""

    def __init__(self):
        self.times, self.bytes = [0.0], [0.0]

    def add(self, until, total):
        """Add the total until a later time."""
        self.times.append(until)
        self.bytes.append(total)

    def between(self, one, other):
        """Return the bytes from one time to another."""
        return self.until(other) - self.until(one)

    def until(self, t):
        """Return the bytes until `t`."""
        index = bisect.bisect_right(self.times, t)
        if index == 0:
            return 0.0
        if index == len(self.times):
            return self.bytes[-1]
        share = (t - self.times[index - 1]) / (self.times[index] - self.times[index - 1])
        return self.bytes[index - 1] + share * (self.bytes[index] - self.bytes[index - 1])
