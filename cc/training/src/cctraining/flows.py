# SPDX-License-Identifier: Apache-2.0
"""A fluid model of one TCP flow on each of many links, with CUBIC as `ccplane.cubic` has it.

Each step moves packets (fractions too) from sender to queue, from queue to receiver, and ACKs
back. Losses are detected when what followed them into the queue is acknowledged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ccplane import cubic
from ccplane.learned.interval import AVERAGED, LENGTH_S, Interval
from cctraining.links import STEP_S, Array, Links

STEPS = round(LENGTH_S / STEP_S)
"""Steps of an interval."""
_REMEMBERED = 2048  # steps; the longest time in a queue
_FIRST_WINDOW = 10.0
_DELAYED_ACK, _DELAYED_ACK_STEPS = 2.0, 20  # packets for each ACK; 40 ms
_TINY = 1e-9
Rows = NDArray[np.bool_]


class Flows:
    """All flows, each an element of every array."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.count = len(links.buffer)
        self._rows = np.arange(self.count)
        self._at = 0  # step, of all links
        self._delivered = np.zeros((_REMEMBERED, self.count))
        self._waited = np.zeros((_REMEMBERED, self.count))
        self._lost_later = np.zeros((_REMEMBERED, self.count))
        self._arrived = np.zeros((_REMEMBERED, self.count))
        self._dropped = np.zeros((_REMEMBERED, self.count))
        self._begin(np.ones(self.count, dtype=bool))

    def begin(self, rows: Rows, links: Links) -> None:
        """Begin new flows on new links at those rows."""
        self.links.replace(rows, links)
        for ring in (self._delivered, self._waited, self._lost_later, self._arrived, self._dropped):
            ring[:, rows] = 0.0
        self._begin(rows)

    def _begin(self, rows: Rows) -> None:
        for name, value in {
            # the path
            "began": self._at, "arrivals": 0.0, "drops": 0.0, "departures": 0.0, "known_drops": 0.0,
            "oldest": self._at, "held_from": self._at, "held_until": self._at,
            "inflight": 0.0, "held": 0.0, "held_wait": 0.0, "held_lost": 0.0,
            "held_least_s": np.inf,
            # the sender
            "cwnd": _FIRST_WINDOW, "cap": np.inf, "ssthresh": np.inf, "epoch": np.nan,
            "last_max": 0.0, "origin": 0.0, "k_s": 0.0, "reno": 0.0, "recovery_end": self._at,
            "srtt_s": 0.0, "least_rtt_s": np.inf, "round_end": self._at, "round_min_s": np.inf,
            # intervals
            "acked": 0.0, "lost": 0.0, "rtt_sum_s": 0.0, "rtt_least_s": np.inf,
            "interval_began": self._at, "highest_per_s": 0.0,
        }.items():  # fmt: skip
            if not hasattr(self, name):
                setattr(self, name, np.zeros(self.count, dtype=type(value)))
            getattr(self, name)[rows] = value
        if not hasattr(self, "recent"):
            self.recent = np.zeros((AVERAGED, 2, self.count))
        self.recent[:, :, rows] = 0.0

    began: NDArray[np.int64]
    arrivals: Array
    drops: Array
    departures: Array
    known_drops: Array
    oldest: NDArray[np.int64]
    held_from: NDArray[np.int64]
    held_until: NDArray[np.int64]
    inflight: Array
    held: Array
    held_wait: Array
    held_lost: Array
    held_least_s: Array
    cwnd: Array
    cap: Array
    ssthresh: Array
    epoch: Array
    last_max: Array
    origin: Array
    k_s: Array
    reno: Array
    recovery_end: NDArray[np.int64]
    srtt_s: Array
    least_rtt_s: Array
    round_end: NDArray[np.int64]
    round_min_s: Array
    acked: Array
    lost: Array
    rtt_sum_s: Array
    rtt_least_s: Array
    interval_began: NDArray[np.int64]
    highest_per_s: Array

    def hidden(self) -> Array:
        """Return what no sender sees: link and queue, one row for each flow, in about -3 to 3."""
        links, base_s = self.links, self.links.delay_steps * STEP_S
        mean = links.capacity.mean(axis=1)
        in_pipe = mean * links.delay_steps
        queue_s = (self._at - self.oldest) * STEP_S
        return np.stack([
            np.minimum(links.capacity[self._rows, self._of_episode()] / mean, 3.0),
            np.log(self.cwnd / in_pipe) / 2,
            np.log(np.maximum(self.highest_per_s * STEP_S / mean, 0.01)),
            np.log1p(queue_s / base_s),
            np.log(base_s / 0.03),
            np.log(links.buffer / in_pipe),
            np.log10(links.loss + 1e-6) / 2 + 2,
            links.burst_steps * STEP_S / base_s,
            links.hold_chance * 10,
            links.hold_steps * STEP_S / base_s,
            links.target_s / base_s - 2,
        ], axis=1)  # fmt: skip

    def pass_interval(self, random: np.random.Generator) -> tuple[Interval, Rows]:
        """Pass LENGTH_S; return what ACKs say, and the rows of the flows whose interval ended.

        An interval without ACKs goes on, as without reports.
        """
        self._losses = random.random((STEPS, self.count)) if self.links.loss.any() else None
        self._hold = random.random((STEPS, self.count))
        for number in range(STEPS):
            self._step(number)
        ended = self.acked > _TINY
        elapsed_s = np.where(ended, (self._at - self.interval_began) * STEP_S, 1.0)
        self.recent = np.where(ended, np.roll(self.recent, 1, axis=0), self.recent)
        self.recent[0] = np.where(ended, (elapsed_s, self.acked), self.recent[0])
        times_s, packets = self.recent.sum(axis=0)
        mean = packets / np.maximum(times_s, LENGTH_S)
        self.highest_per_s = np.maximum(self.highest_per_s, mean)
        rtt_s = np.where(ended, self.rtt_sum_s, 1.0) / np.where(ended, self.acked, 1.0)
        interval = Interval(
            elapsed_s=elapsed_s,
            acked=self.acked.copy(),
            lost=self.lost.copy(),
            rtt_s=rtt_s,
            rtt_least_s=np.where(ended, self.rtt_least_s, rtt_s),
            srtt_s=np.maximum(self.srtt_s, STEP_S),
            least_rtt_s=np.where(ended, self.least_rtt_s, rtt_s),
            cwnd=self.cwnd.copy(),
            highest_per_s=np.maximum(self.highest_per_s, _TINY),
        )
        for one in (self.acked, self.lost, self.rtt_sum_s):
            one[ended] = 0.0
        self.rtt_least_s[ended] = np.inf
        self.interval_began[ended] = self._at
        return interval, ended

    def _step(self, number: int) -> None:
        slot = self._at % _REMEMBERED
        acked, rtt_s, lost = self._acknowledged(number)
        self.inflight = np.maximum(self.inflight - acked - lost, 0.0)
        self._see(acked, rtt_s, lost)
        self._send(slot)
        self._serve(slot, number)
        self._at += 1

    def _acknowledged(self, number: int) -> tuple[Array, Array, Array]:
        """Return the packets that ACKs of now acknowledge, their mean RTT, and those found lost."""
        links, then = self.links, (self._at - self.links.delay_steps) % _REMEMBERED
        came = self._delivered[then, self._rows]
        self.held_wait += self.held * STEP_S + self._waited[then, self._rows] * came
        self.held += came
        newest_s = np.where(came > _TINY, self._waited[then, self._rows], np.inf)
        self.held_least_s = np.minimum(self.held_least_s + STEP_S, newest_s)
        self.held_lost += self._lost_later[then, self._rows]
        begins = self._hold[number] < links.hold_chance
        until = np.maximum(self.held_until, self._at + links.hold_steps)
        self.held_until = np.where(begins, until, self.held_until)
        waited = self._at - self.held_from
        enough = (self.held >= _DELAYED_ACK) | (waited >= _DELAYED_ACK_STEPS)
        released = (self._at % links.burst_steps == 0) & (self._at >= self.held_until) & enough
        self.held_from = np.where(released | (self.held <= _TINY), self._at, self.held_from)
        acked = np.where(released, self.held, 0.0)
        lost = np.where(released, self.held_lost, 0.0)
        queued_s = self.held_wait / np.maximum(self.held, _TINY)
        self._note_least(released & (acked > _TINY))
        for one in (self.held, self.held_wait, self.held_lost):
            one[released] = 0.0
        return acked, links.delay_steps * STEP_S + queued_s, lost

    def _note_least(self, rows: Rows) -> None:
        """Note the least RTT among the ACKs that arrive now at those rows."""
        rtt_s = np.where(rows, self.links.delay_steps * STEP_S + self.held_least_s, np.inf)
        self.rtt_least_s = np.minimum(self.rtt_least_s, rtt_s)
        self.least_rtt_s = np.minimum(self.least_rtt_s, rtt_s)
        self.held_least_s[rows] = np.inf

    def _see(self, acked: Array, rtt_s: Array, lost: Array) -> None:
        """The sender's reaction to ACKs."""
        some = acked > _TINY
        first = some & (self.srtt_s == 0.0)
        weight = 1 - 0.875 ** (acked / 2)
        smoothed = self.srtt_s + weight * (rtt_s - self.srtt_s)
        self.srtt_s = np.where(first, rtt_s, np.where(some, smoothed, self.srtt_s))
        self.acked += acked
        self.lost += lost
        self.rtt_sum_s += acked * np.where(some, rtt_s, 0.0)
        self._end_slow_start(some, rtt_s)
        self._grow(np.where(self._at >= self.recovery_end, acked, 0.0))
        losing = (lost > _TINY) & (self._at >= self.recovery_end)
        if losing.any():
            self._lose(losing)
        self.cwnd = np.minimum(self.cwnd, self.cap)

    def _end_slow_start(self, some: Rows, rtt_s: Array) -> None:
        """HyStart, as `ccplane.cubic`, with the round's whole length for its eight samples."""
        over = some & (self._at >= self.round_end)
        margin_s = np.clip(self.least_rtt_s / 8, cubic.DELAY_LEAST_S, cubic.DELAY_MOST_S)
        late = over & (self.round_min_s > self.least_rtt_s + margin_s)
        late &= np.isfinite(self.round_min_s) & (self.cwnd >= cubic.SLOW_START_LEAST)
        late &= self.cwnd < self.ssthresh
        self.ssthresh = np.where(late, self.cwnd, self.ssthresh)
        steps = (self.srtt_s / STEP_S).astype(np.int64)
        self.round_end = np.where(over, self._at + steps, self.round_end)
        self.round_min_s = np.where(over, np.inf, self.round_min_s)
        self.round_min_s = np.where(some, np.minimum(self.round_min_s, rtt_s), self.round_min_s)

    def _grow(self, acked: Array) -> None:
        growing = acked > _TINY
        slow = growing & (self.cwnd < self.ssthresh)
        doubled = np.minimum(self.cwnd + acked, np.maximum(self.ssthresh, self.cwnd))
        left = np.where(slow, acked - (doubled - self.cwnd), acked)
        self.cwnd = np.where(slow, doubled, self.cwnd)
        rows = left > _TINY
        if rows.any():
            now_s = self._at * STEP_S
            fresh = rows & np.isnan(self.epoch)
            self.epoch = np.where(fresh, now_s, self.epoch)
            self.reno = np.where(fresh, self.cwnd, self.reno)
            self.origin = np.where(fresh, np.maximum(self.last_max, self.cwnd), self.origin)
            k_s = np.cbrt(np.maximum(self.origin - self.cwnd, 0.0) / cubic.C)
            self.k_s = np.where(fresh, k_s, self.k_s)
            self.reno += np.where(rows, left, 0.0) / (cubic.FRIENDLY_ACKS * self.cwnd)
            self.cwnd += np.where(rows, left / self._acks_for_each(now_s), 0.0)

    def _acks_for_each(self, now_s: float) -> Array:
        least_s = np.where(np.isfinite(self.least_rtt_s), self.least_rtt_s, 0.0)
        epoch_s = np.where(np.isnan(self.epoch), now_s, self.epoch)
        target = self.origin + cubic.C * (now_s + least_s - epoch_s - self.k_s) ** 3
        acks = self.cwnd / np.maximum(target - self.cwnd, cubic.LEAST_GROWTH)
        acks = np.where(self.last_max == 0.0, np.minimum(acks, cubic.FIRST_GROWTH), acks)
        reno_above = np.maximum(self.reno - self.cwnd, _TINY)
        return np.maximum(np.minimum(acks, self.cwnd / reno_above), 2.0)

    def _lose(self, rows: Rows) -> None:
        falls = self.cwnd < self.last_max
        last = np.where(falls, self.cwnd * (1 + cubic.BETA) / 2, self.cwnd)
        self.last_max = np.where(rows, last, self.last_max)
        self.epoch = np.where(rows, np.nan, self.epoch)
        less = np.maximum(self.cwnd * cubic.BETA, cubic.LEAST_WINDOW)
        self.cwnd = np.where(rows, less, self.cwnd)
        self.ssthresh = np.where(rows, less, self.ssthresh)
        end = self._at + (self.srtt_s / STEP_S).astype(np.int64)
        self.recovery_end = np.where(rows, end, self.recovery_end)

    def _send(self, slot: int) -> None:
        """Fill the window, paced as the plane does, and the queue as far as it has space."""
        gain = np.where(self.cwnd < self.ssthresh / 2, 2.0, 1.2)
        paced = gain * self.cwnd * STEP_S / np.maximum(self.srtt_s, STEP_S)
        sent = np.clip(self.cwnd - self.inflight, 0.0, np.where(self.srtt_s > 0, paced, np.inf))
        self.inflight += sent
        queue = self.arrivals - self.departures
        capacity = self.links.capacity[self._rows, self._of_episode()]
        fits = np.clip(self.links.buffer + capacity - queue, 0.0, sent)
        self.arrivals += fits
        self.drops += sent - fits
        self._arrived[slot], self._dropped[slot] = self.arrivals, self.drops

    def _of_episode(self) -> NDArray[np.int64]:
        last = self.links.capacity.shape[1] - 1
        steps: NDArray[np.int64] = np.minimum(self._at - self.began, last)
        return steps

    def _serve(self, slot: int, number: int) -> None:
        capacity = self.links.capacity[self._rows, self._of_episode()]
        served = np.minimum(self.arrivals - self.departures, capacity)
        self.departures += served
        self._find_oldest()
        # A drop is known from what departs behind it; in an empty queue, by a timeout's stand-in.
        empty = self.arrivals - self.departures < _TINY
        known = np.where(empty, self.drops, self._dropped[self.oldest % _REMEMBERED, self._rows])
        lost = np.maximum(known - self.known_drops, 0.0)
        self.known_drops += lost
        if self._losses is not None:
            # A burst of losses in a step is one packet at least.
            strikes = self._losses[number] < served * self.links.loss
            unlucky = np.minimum(np.where(strikes, 1.0, 0.0), served)
            served, lost = served - unlucky, lost + unlucky
        self._delivered[slot], self._lost_later[slot] = served, lost
        self._waited[slot] = (self._at - self.oldest) * STEP_S

    def _find_oldest(self) -> None:
        """Advance to the step at which the packet arrived that departs now."""
        self.oldest = np.maximum(self.oldest, self._at - _REMEMBERED + 1)
        while True:
            behind = self._arrived[self.oldest % _REMEMBERED, self._rows] < self.departures - _TINY
            behind &= self.oldest < self._at
            if not behind.any():
                return
            self.oldest += behind
