# SPDX-License-Identifier: Apache-2.0
"""Goodput: what the receiving application can read, when it can read it."""

from __future__ import annotations

import numpy as np

from ddu.tables.bins import Int
from ddu.transport.ranges import cut
from ddu.transport.segments import Segments, highest_before


def delivered_in_order(received: Segments, acks: Segments) -> tuple[Int, Int]:
    """(instants, bytes): new payload at the instant when it and everything before it has arrived.

    A byte is in order at the latest first arrival of any byte up to it. Bytes that the capture
    missed count as arrived when the receiver acknowledges them; behind bytes that never arrived
    nothing is delivered.
    """
    if not len(received):
        return received.utc_ns, received.payload_bytes
    boundaries = np.unique(np.concatenate([[0], received.seq, received.end]))
    arrivals = cut(received.seq, received.end, boundaries)
    never = np.iinfo(np.int64).max
    arrived = np.full(len(boundaries) - 1, never)
    # In reverse, so that the first arrival of a piece is written last and stays.
    arrived[arrivals.piece[::-1]] = received.utc_ns[arrivals.packet[::-1]]
    missing = np.flatnonzero(arrived == never)
    arrived[missing] = _acknowledged_at(boundaries[missing + 1], acks, never)
    in_order = np.maximum.accumulate(arrived)
    delivered = in_order < never
    return in_order[delivered], arrivals.sizes[delivered]


def _acknowledged_at(end: Int, acks: Segments, never: int) -> Int:
    advancing = acks.where(acks.ack > highest_before(acks.ack))
    index = np.searchsorted(advancing.ack, end, side="left")
    instants = np.concatenate([advancing.utc_ns, [never]])
    return instants[index]
