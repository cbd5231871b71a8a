# SPDX-License-Identifier: Apache-2.0
"""Goodput: what the receiving application can read, when it can read it."""

from __future__ import annotations

import numpy as np

from ddu.flows.ranges import cut, distinct, overlaps, union
from ddu.readers.packets.segments import Acks, Segments, highest_before
from ddu.schema.arrays import Int, UInt32

NEVER = np.iinfo(np.int64).max


def delivered_in_order(received: Segments, acks: Acks) -> tuple[Int, Int | UInt32]:
    """Return instants and bytes of new payload, when it and everything before it has arrived.

    A byte is in order at the latest first arrival of any byte up to it. Bytes that the capture
    missed count as arrived when the receiver acknowledges them; behind bytes that never arrived
    nothing is delivered.
    """
    if not len(received):
        return received.utc_ns, received.payload_bytes.astype(np.int64)
    begin, end, arrived = _first_arrivals(received)
    gap_begin = np.concatenate([[0], end[:-1]])
    missing = np.flatnonzero(begin > gap_begin)
    sizes: Int | UInt32 = (end - begin).astype(np.uint32)
    if len(missing):
        gaps = _acknowledged_at(begin[missing], acks)
        arrived = np.insert(arrived, missing, gaps)
        sizes = np.insert(sizes.astype(np.int64), missing, (begin - gap_begin)[missing])
    in_order = np.maximum.accumulate(arrived)
    count = int(np.searchsorted(in_order, NEVER))
    return in_order[:count], sizes[:count]


def acknowledged(sent: Segments, acks: Acks) -> tuple[Int, Int]:
    """Return instants and bytes of new payload, when its ACK is back at the sender.

    It stands for delivered_in_order where there is only the sender's capture: the same bytes, later
    by the delay back and by the time that the receiver waits before it acknowledges.
    """
    number = np.minimum(acks.ack, int(sent.end.max(initial=0)))  # a FIN counts as a byte
    advance = number - highest_before(number)
    new = advance > 0
    return acks.utc_ns[new], advance[new]


def _first_arrivals(received: Segments) -> tuple[Int, Int, Int]:
    """Return the bytes that arrived as disjoint ascending ranges, and when each first did."""
    begin, end, utc_ns = received.seq, received.end, received.utc_ns
    if not (begin[1:] >= begin[:-1]).all():
        order = np.argsort(begin, kind="stable")
        begin, end, utc_ns = begin[order], end[order], utc_ns[order]
    repeated = union(begin, np.minimum(end, highest_before(end)))
    if not len(repeated[0]):
        return begin, end, utc_ns
    several = overlaps(repeated, begin, end)
    cuts = distinct(begin[several], end[several])
    arrivals = cut(begin[several], end[several], cuts)
    first = np.full(len(cuts), NEVER)
    np.minimum.at(first, arrivals.piece, utc_ns[several][arrivals.packet])
    piece = np.flatnonzero(first < NEVER)
    begin = np.concatenate([begin[~several], cuts[piece]])
    end = np.concatenate([end[~several], cuts[1:][piece]])
    utc_ns = np.concatenate([utc_ns[~several], first[piece]])
    order = np.argsort(begin, kind="stable")
    return begin[order], end[order], utc_ns[order]


def _acknowledged_at(end: Int, acks: Acks) -> Int:
    advancing = acks.where(acks.ack > highest_before(acks.ack))
    index = np.searchsorted(advancing.ack, end, side="left")
    instants = np.concatenate([advancing.utc_ns, [NEVER]])
    return instants[index]
