# SPDX-License-Identifier: Apache-2.0
"""Delays of packets: every segment counts once, however RTT and one-way delay are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ddu.flows.rtt import sending_of
from ddu.readers.packets.segments import Segments, Stamps
from ddu.schema.arrays import Float, Int


@dataclass(frozen=True)
class PacketDelays:
    """Delays, and how many packets had each of them."""

    value_ms: Float
    packet_count: Int

    def distribution(self, **percents: float) -> dict[str, float | None]:
        """Return mean and percentiles (nearest rank) over the packets; null without packets."""
        order = np.argsort(self.value_ms, kind="stable")
        value_ms, reached = self.value_ms[order], np.cumsum(self.packet_count[order])
        if not len(reached) or not reached[-1]:
            return dict.fromkeys(["mean", *percents])
        rank = np.ceil(np.array(list(percents.values())) / 100 * reached[-1])
        at = value_ms[np.searchsorted(reached, np.maximum(rank, 1))]
        mean = float(np.average(self.value_ms, weights=self.packet_count))
        return {"mean": mean, **dict(zip(percents, map(float, at), strict=True))}


def together(flows: Sequence[PacketDelays]) -> PacketDelays:
    """Return the packets of all flows."""
    return PacketDelays(
        np.concatenate([flow.value_ms for flow in flows]),
        np.concatenate([flow.packet_count for flow in flows]),
    )


def rtt_of_packets(sent: Segments, tsval: Stamps, tsecr: Stamps) -> PacketDelays:
    """Return the RTT of the segments sent, by TCP timestamps.

    A segment has the RTT of its TSval: from the first payload segment sent with it to the first
    ACK that echoes it. The receiver echoes one of the timestamps that an ACK covers (RFC 7323,
    section 4.3), so a segment whose TSval is never echoed has the RTT of the next TSval that is.
    Segments after the last TSval echoed have none.
    """
    value, first_sent = np.unique(tsval.value, return_index=True)
    echo, first_back = np.unique(tsecr.value, return_index=True)
    _, echoed, of_back = np.intersect1d(value, echo, assume_unique=True, return_indices=True)
    begin = tsval.utc_ns[first_sent]
    rtt_ns = tsecr.utc_ns[first_back[of_back]] - begin[echoed]
    causal = rtt_ns >= 0
    echoed, rtt_ns = echoed[causal], rtt_ns[causal]
    of_value = np.searchsorted(begin, sent.utc_ns, side="right") - 1
    of_echo = np.searchsorted(echoed, of_value)
    packets = np.bincount(of_echo, weights=sent.segment_count, minlength=len(echoed) + 1)
    return PacketDelays(rtt_ns / 1e6, packets[: len(echoed)].astype(np.int64))


def owd_of_packets(sent: Segments, received: Segments, resent: tuple[Int, Int]) -> PacketDelays:
    """Return the one-way delay of the segments received whose bytes were sent once (delay.py)."""
    sent_utc_ns, known = sending_of(received.end - 1, sent, resent)
    return PacketDelays(
        (received.utc_ns[known] - sent_utc_ns) / 1e6, received.segment_count[known].astype(np.int64)
    )
