# SPDX-License-Identifier: Apache-2.0
"""The bounds that packets give for two clocks: none arrives before it was sent.

θ(t) is what the second clock is ahead of the first at instant t of the first. A packet from the
first to the second host has t₂ - t₁ = its delay + θ, so that θ ≤ t₂ - t₁: an upper bound. One the
other way gives a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.readers.packets.segments import Acks, highest_before
from ddu.schema.arrays import Int

STEP_NS = 10_000_000
"""The interval, 10 ms, in which only the tightest bound of a direction is kept."""


@dataclass(frozen=True)
class Bounds:
    """Bounds of one kind: at each instant (of the first clock, ns), on θ (ns)."""

    at_ns: Int
    theta_ns: Int

    def __len__(self) -> int:
        return len(self.at_ns)

    def tightest(self, upper: bool) -> Bounds:
        """The least upper, or the greatest lower, of each step of time."""
        if not len(self):
            return self
        order = np.argsort(self.at_ns, kind="stable")
        at_ns, theta_ns = self.at_ns[order], self.theta_ns[order]
        step = at_ns // STEP_NS
        first = np.flatnonzero(np.concatenate([[True], step[1:] != step[:-1]]))
        group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(step))))
        by_bound = np.lexsort((theta_ns if upper else -theta_ns, group))
        best = by_bound[first]
        return Bounds(at_ns[best], theta_ns[best])


def joined(parts: Iterable[Bounds]) -> Bounds:
    """All of them."""
    listed = list(parts)
    return Bounds(
        np.concatenate([part.at_ns for part in listed] or [_NONE]),
        np.concatenate([part.theta_ns for part in listed] or [_NONE]),
    )


def ack_instants(sent: Acks, received: Acks) -> tuple[Int, Int]:
    """When each ACK that advances was sent, and when one of at least its number arrived.

    That may be a later one, if the first was lost: a bound that is then looser, and still true. One
    of a higher number left later. One of the same number may have left before, if the capture lost
    it and has a duplicate: it is taken only if it is like the one that was captured.
    """
    left = sent.where(sent.ack > highest_before(sent.ack))
    came = received.where(received.ack > highest_before(received.ack))
    index = np.searchsorted(came.ack, left.ack, side="left")
    known = index < len(came)
    left, index = left.where(known), index[known]
    # A duplicate reports other blocks: those of what made it be sent (RFC 2018, section 4).
    like = came.sacked_bytes[index] == left.sacked_bytes
    like &= _copies(received, left.ack) <= _copies(sent, left.ack)
    true = like | (came.ack[index] > left.ack)
    return left.utc_ns[true], came.utc_ns[index[true]]


def _copies(acks: Acks, numbers: Int) -> Int:
    """Return how many of the ACKs have each of the numbers."""
    ordered = np.sort(acks.ack)
    copies: Int = np.searchsorted(ordered, numbers, side="right") - np.searchsorted(
        ordered, numbers, side="left"
    )
    return copies


def hull(points: npt.NDArray[np.float64], lower: bool) -> Int:
    """Indices of the vertices of the lower (or upper) convex hull of (x, y), x ascending strictly.

    Andrew's monotone chain (Information Processing Letters 9, 1979).
    """
    sign = 1.0 if lower else -1.0
    x, y = points.T.tolist()
    chain: list[int] = []
    for index in range(len(x)):
        while len(chain) >= 2:
            i, j = chain[-2], chain[-1]
            turn = (x[j] - x[i]) * (y[index] - y[i]) - (y[j] - y[i]) * (x[index] - x[i])
            if sign * turn > 0:
                break
            chain.pop()
        chain.append(index)
    return np.array(chain, dtype=np.int64)


_NONE = np.zeros(0, dtype=np.int64)
