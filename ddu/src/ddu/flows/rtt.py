# SPDX-License-Identifier: Apache-2.0
"""Round-trip time at the sender, from its own capture alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.flows.ranges import contains
from ddu.readers.packets.segments import Acks, Segments, Stamps, highest_before
from ddu.schema.arrays import Float, Int


@dataclass(frozen=True)
class Samples:
    """A value per event, and the time of the event."""

    utc_ns: Int
    value_ms: Float

    def __len__(self) -> int:
        return len(self.utc_ns)


@dataclass(frozen=True)
class Echoes:
    """The TSvals of a sender, and which of them came back (RFC 7323, section 4)."""

    begin_ns: Int
    """The first payload segment sent with each TSval, in the order of time."""
    echoed: Int
    """The TSvals that came back, as indices of `begin_ns`; none before it was sent."""
    back_ns: Int
    """The first segment with the ACK flag that returned each of these."""


def echoes(sent: Stamps, back: Stamps) -> Echoes:
    """Match the timestamps of both directions, as the sender's capture has them."""
    tsval, first_sent = np.unique(sent.value, return_index=True)
    tsecr, first_back = np.unique(back.value, return_index=True)
    _, echoed, of_back = np.intersect1d(tsval, tsecr, assume_unique=True, return_indices=True)
    begin_ns, back_ns = sent.utc_ns[first_sent], back.utc_ns[first_back[of_back]]
    causal = back_ns >= begin_ns[echoed]
    echoed, back_ns = echoed[causal], back_ns[causal]
    in_time = np.argsort(begin_ns, kind="stable")  # which is not that of a TSval that wraps
    rank = np.empty_like(in_time)
    rank[in_time] = np.arange(len(in_time))
    order = np.argsort(rank[echoed], kind="stable")
    return Echoes(begin_ns[in_time], rank[echoed][order], back_ns[order])


def rtt_by_timestamps(echoes: Echoes) -> Samples:
    """Return the RTT by TCP timestamps, one sample per TSval that came back.

    Unambiguous under retransmission; a clock tick shared by several segments gives one sample, its
    first, so that waiting for a delayed ACK is not counted again.
    """
    return _between(echoes.begin_ns[echoes.echoed], echoes.back_ns)


def rtt_by_sequence(data: Segments, acks: Acks, resent: tuple[Int, Int]) -> Samples:
    """Return the RTT by sequence numbers, one sample per ACK that advances.

    From the segment that holds the last byte which the ACK newly acknowledges, to the ACK; none
    when that byte was sent more than once (Karn; RFC 6298, section 3).
    """
    advances = acks.ack > highest_before(acks.ack)
    last_byte, back_utc_ns = acks.ack[advances] - 1, acks.utc_ns[advances]
    sent_utc_ns, known = sending_of(last_byte, data, resent)
    return _between(sent_utc_ns, back_utc_ns[known])


def sending_of(
    byte: Int, sent: Segments, resent: tuple[Int, Int]
) -> tuple[Int, npt.NDArray[np.bool_]]:
    """Return when each byte was sent, of those sent exactly once, and which bytes these are."""
    seq, end, utc_ns = sent.seq, sent.end, sent.utc_ns
    fresh = end > highest_before(end)
    if not fresh.all():
        seq, end, utc_ns = seq[fresh], end[fresh], utc_ns[fresh]
    # First transmissions ascend, so the one that holds a byte is the first to end behind it.
    index = np.searchsorted(end, byte, side="right")
    known = (index < len(end)) & ~contains(resent, byte)
    # A byte that the capture lacks lies before the packet that ends behind it.
    known[known] = seq[index[known]] <= byte[known]
    return utc_ns[index[known]], known


def _between(sent_utc_ns: Int, back_utc_ns: Int) -> Samples:
    order = np.argsort(back_utc_ns, kind="stable")
    sent, back = sent_utc_ns[order], back_utc_ns[order]
    causal = back >= sent
    return Samples(back[causal], (back - sent)[causal] / 1e6)
