# SPDX-License-Identifier: Apache-2.0
"""Retransmissions, losses before and in the link, and reordering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.flows.ranges import contains, cut, distinct, holes, merged, overlaps, union
from ddu.readers.packets.segments import Segments, highest_before
from ddu.schema.arrays import Float, Int, UInt32


@dataclass(frozen=True)
class Events:
    """Counts of segments, each at the instant of the packet that shows them."""

    utc_ns: Int
    count: Float
    size_bytes: Int | UInt32


_NONE = np.zeros(0, dtype=np.int64)
NO_EVENTS = Events(_NONE, np.zeros(0), _NONE)


def resent_ranges(sent: Segments) -> tuple[Int, Int]:
    """Return the bytes that the sender sent more than once, as disjoint ascending ranges."""
    before = highest_before(sent.end)
    return union(sent.seq, np.minimum(sent.end, before))


def retransmissions(sent: Segments, among: npt.NDArray[np.bool_] | None = None) -> Events:
    """Return segments below the highest sequence number sent before them, at the time of sending.

    Only those of the packets `among`, if these are given.
    """
    again = np.minimum(sent.end, highest_before(sent.end)) - sent.seq
    chosen = again > 0
    return _events(sent, again, chosen if among is None else chosen & among)


def lost_before_link(sent: Segments) -> Events:
    """Return segments that TCP sent and that never reached the capture on the link's interface.

    The sequence numbers leap over them. Counted at the leap. A capture that dropped packets shows
    the same leaps; the verdict reports that.
    """
    skipped = sent.seq - highest_before(sent.end)
    return _events(sent, skipped, skipped > 0)


@dataclass(frozen=True)
class Fates:
    """The fates of the copies that were sent, by time of sending."""

    lost: Events
    """Copies of bytes in the sender's capture that the receiver's has not."""
    spurious: Events
    """Copies of bytes of which an earlier copy arrived."""


def fates(sent: Segments, received: Segments, acked: int, longest_ns: int, until_ns: int) -> Fates:
    """Return which copies were lost: as many as did not arrive, and the earliest ones, since TCP
    retransmits because a copy was lost and not the other way round.

    Bytes above the last one received may have been in flight when the captures ended: their copies
    are lost if the captures went on (`until_ns`) for longer than any packet took (`longest_ns`),
    and otherwise left open. Those below the highest ACK (`acked`) arrived after the receiver's
    capture ended.
    """
    reached = int(received.end.max(initial=0))
    went_on = sent.utc_ns < until_ns - longest_ns
    decided = (sent.end <= reached) | ((sent.seq >= acked) & went_on)
    until = int(sent.end[decided].max(initial=reached))
    # A byte that was sent once and arrived at all was not lost: only the others are looked at.
    doubtful = merged(resent_ranges(sent), holes(union(received.seq, received.end), until))
    if not len(doubtful[0]):
        return Fates(NO_EVENTS, NO_EVENTS)
    sent = sent.where(overlaps(doubtful, sent.seq, sent.end) & decided)
    received = received.where(overlaps(doubtful, received.seq, received.end))
    cuts = distinct(sent.seq, sent.end, received.seq, received.end, *doubtful)
    sends = cut(sent.seq, sent.end, cuts)
    arrivals = cut(received.seq, received.end, cuts)
    pieces = len(cuts)
    missing = np.bincount(sends.piece, minlength=pieces) - np.bincount(
        arrivals.piece, minlength=pieces
    )
    within = contains(doubtful, cuts)[sends.piece]
    copy, lost_copies = rank_within(sends.piece), missing[sends.piece]

    def events(chosen: npt.NDArray[np.bool_]) -> Events:
        size_bytes = np.bincount(
            sends.packet[chosen], weights=sends.sizes[sends.piece[chosen]], minlength=len(sent)
        ).astype(np.int64)
        return _events(sent, size_bytes, size_bytes > 0)

    return Fates(
        lost=events(within & (copy < lost_copies)),
        spurious=events(within & (copy > np.maximum(lost_copies, 0))),
    )


def end_ns(sent: Segments, received: Segments) -> int:
    """Return when the last packet of either end was captured; 0 without any."""
    return int(max(one.utc_ns.max(initial=0) for one in (sent, received)))


def reordered(received: Segments, resent: tuple[Int, Int]) -> Events:
    """Return packets that arrive below the highest sequence number seen and were sent only once."""
    late = received.seq < highest_before(received.end)
    late &= ~contains(resent, received.seq)
    return _events(received, received.payload_bytes, late)


def _events(packets: Segments, size_bytes: Int | UInt32, mask: npt.NDArray[np.bool_]) -> Events:
    """Return the number of each packet's segments that hold `size_bytes` of it."""
    if not mask.any():
        return NO_EVENTS
    chosen, size = packets.where(mask), size_bytes[mask]
    largest = largest_segment(packets)
    per_segment = np.where(chosen.segment_count > 1, largest, chosen.payload_bytes)
    return Events(chosen.utc_ns, np.ceil(size / np.maximum(per_segment, 1)), size)


def largest_segment(packets: Segments) -> float:
    """Return the payload bytes of each segment of the super-packets: that of the largest, as the
    last one of a super-packet may be shorter; 0 without packets."""
    mean = packets.payload_bytes / np.maximum(packets.segment_count, 1)
    return float(np.ceil(mean).max(initial=0))


def rank_within(group: Int) -> Int:
    """Return how many of the same number are before each."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.concatenate([starts, [len(group)]]))
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts, sizes)
    return rank
