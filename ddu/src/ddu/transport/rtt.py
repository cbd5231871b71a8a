# SPDX-License-Identifier: Apache-2.0
"""Round-trip time at the sender, from its own capture alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddu.tables.bins import Float, Int
from ddu.transport.ranges import contains
from ddu.transport.segments import Segments, highest_before


@dataclass(frozen=True)
class Samples:
    """A value per event, and when the event was seen."""

    utc_ns: Int
    value_ms: Float

    def __len__(self) -> int:
        return len(self.utc_ns)


def rtt_by_timestamps(data: Segments, acks: Segments) -> Samples:
    """RTT by TCP timestamps (RFC 7323, section 4), one sample per TSval.

    From the first payload segment sent with TSval v to the first segment that returns with the ACK
    flag and TSecr v. Unambiguous under retransmission; a clock tick shared by several segments
    gives one sample, its first, so that waiting for a delayed ACK is not counted again.
    """
    sent = data.where(data.tsval >= 0)
    back = acks.where(acks.tsecr >= 0)
    tsval, first_sent = np.unique(sent.tsval, return_index=True)
    tsecr, first_back = np.unique(back.tsecr, return_index=True)
    _, of_sent, of_back = np.intersect1d(tsval, tsecr, assume_unique=True, return_indices=True)
    return _between(sent.utc_ns[first_sent[of_sent]], back.utc_ns[first_back[of_back]])


def rtt_by_sequence(data: Segments, acks: Segments, resent: tuple[Int, Int]) -> Samples:
    """RTT by sequence numbers, one sample per ACK that advances.

    From the segment that holds the last byte which the ACK newly acknowledges, to the ACK; none
    when that byte was sent more than once (Karn; RFC 6298, section 3).
    """
    advances = acks.ack > highest_before(acks.ack)
    last_byte = acks.ack[advances] - 1
    fresh = data.where(data.end > highest_before(data.end))
    # First transmissions ascend, so the one that holds a byte is the first to end behind it.
    index = np.searchsorted(fresh.end, last_byte, side="right")
    known = (index < len(fresh)) & ~contains(resent, last_byte)
    return _between(fresh.utc_ns[index[known]], acks.utc_ns[advances][known])


def _between(sent_utc_ns: Int, back_utc_ns: Int) -> Samples:
    order = np.argsort(back_utc_ns, kind="stable")
    sent, back = sent_utc_ns[order], back_utc_ns[order]
    causal = back >= sent
    return Samples(back[causal], (back - sent)[causal] / 1e6)
