# SPDX-License-Identifier: Apache-2.0
"""Causes of retransmissions: ACKs that report a loss, or a timer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.flows.loss import NO_EVENTS, Events, retransmissions
from ddu.flows.ranges import Ranges, cut, distinct, overlaps
from ddu.readers.packets.segments import Acks, Segments, highest_before
from ddu.schema.arrays import Int

DUPLICATES = 3
"""Duplicate ACKs that stand for a loss (RFC 5681, section 3.2)."""


@dataclass(frozen=True)
class Causes:
    """The retransmissions of a flow by their cause."""

    fast: Events
    timeout: Events


def causes(sent: Segments, acks: Acks, resent: Ranges) -> Causes:
    """Return the causes. Fast: at its sending, data sent after the previous copy is acknowledged or
    in a SACK block (RFC 8985, section 6.2), or three duplicate ACKs have come in a row (RFC 5681).
    Otherwise only a timer can have sent it: the retransmission timeout (RFC 6298) or a tail loss
    probe.
    """
    again = np.minimum(sent.end, highest_before(sent.end)) > sent.seq
    index = np.flatnonzero(again)
    if not len(index):
        return Causes(NO_EVENTS, NO_EVENTS)
    is_fast = np.zeros(len(sent), dtype=bool)
    is_fast[index] = _reported_by_acks(sent, acks, resent, index)
    return Causes(retransmissions(sent, is_fast), retransmissions(sent, ~is_fast))


def _reported_by_acks(
    sent: Segments, acks: Acks, resent: Ranges, again: Int
) -> npt.NDArray[np.bool_]:
    if not len(acks):
        return np.zeros(len(again), dtype=bool)
    latest = np.searchsorted(acks.utc_ns, sent.utc_ns[again], side="right") - 1
    heard, latest = latest >= 0, np.maximum(latest, 0)
    reached = np.maximum.accumulate(acks.ack + acks.sacked_bytes)[latest]
    first_byte = sent.seq[again]
    fresh = sent.end > highest_before(sent.end)
    newest = np.searchsorted(sent.end[fresh], reached, side="left")
    newest_utc_ns = np.append(sent.utc_ns[fresh], np.iinfo(np.int64).max)[newest]
    before_ns = _copy_before(sent, resent, again)
    later = (reached > first_byte) & (newest_utc_ns >= before_ns)
    in_a_row, since_ns = _duplicates(acks)
    # Those that came before it, of an earlier loss or of a closed window, say nothing of the copy.
    duplicates = (in_a_row[latest] >= DUPLICATES) & (since_ns[latest] >= before_ns)
    reported: npt.NDArray[np.bool_] = heard & (later | duplicates)
    return reported


def _copy_before(sent: Segments, resent: Ranges, again: Int) -> Int:
    packets = np.flatnonzero(overlaps(resent, sent.seq, sent.end))
    begin, end = sent.seq[packets], sent.end[packets]
    pieces = cut(begin, end, distinct(begin, end))
    order = np.argsort(pieces.piece, kind="stable")
    same = pieces.piece[order][1:] == pieces.piece[order][:-1]
    before = np.full(len(order), np.iinfo(np.int64).min)
    utc_ns = sent.utc_ns[packets][pieces.packet]
    before[order[1:][same]] = utc_ns[order[:-1][same]]
    first_piece = np.searchsorted(pieces.packet, np.searchsorted(packets, again))
    return before[first_piece]


def _duplicates(acks: Acks) -> tuple[Int, Int]:
    """Return how many duplicates of the highest ACK have come in a row, at each ACK, and when the
    first of the row came."""
    before = highest_before(acks.ack)
    advances = acks.ack > before
    duplicate = acks.is_pure & (acks.ack == before) & ~advances
    count = np.cumsum(duplicate)
    at_advance = np.maximum.accumulate(np.where(advances, count, 0))
    times_ns = np.append(acks.utc_ns[duplicate], np.iinfo(np.int64).max)
    return count - at_advance, times_ns[at_advance]
