# SPDX-License-Identifier: Apache-2.0
"""Delays of packets: every segment counts once, however RTT and one-way delay are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ddu.flows.rtt import Echoes
from ddu.readers.packets.segments import Segments
from ddu.schema.arrays import Float, Int, UInt32

_PERCENTS = {"p50": 50, "p95": 95, "p99": 99}
_PARTS = ("mean", *_PERCENTS)


@dataclass(frozen=True)
class PacketDelays:
    """Delays, and how many packets had each of them."""

    value_ms: Float
    packet_count: Int | UInt32

    @cached_property
    def distribution(self) -> dict[str, float | None]:
        """The mean and percentiles (nearest rank) over the packets; null without packets."""
        order = np.argsort(self.value_ms)
        value_ms, reached = self.value_ms[order], np.cumsum(self.packet_count[order])
        if not len(reached) or not reached[-1]:
            return dict.fromkeys(_PARTS)
        rank = np.ceil(np.array(list(_PERCENTS.values())) / 100 * reached[-1])
        at = value_ms[np.searchsorted(reached, np.maximum(rank, 1))]
        mean = float(np.average(self.value_ms, weights=self.packet_count))
        return {"mean": mean, **dict(zip(_PERCENTS, map(float, at), strict=True))}


def together(flows: Sequence[PacketDelays]) -> PacketDelays:
    """Return the packets of all flows."""
    if len(flows) == 1:
        return flows[0]
    return PacketDelays(
        np.concatenate([flow.value_ms for flow in flows]),
        np.concatenate([flow.packet_count for flow in flows]),
    )


def rtt_of_packets(sent: Segments, echoes: Echoes) -> PacketDelays:
    """Return the RTT of the segments sent, by TCP timestamps.

    A segment has the RTT of its TSval. The receiver echoes one of the timestamps that an ACK covers
    (RFC 7323, section 4.3), so a segment whose TSval is never echoed has the RTT of the next TSval
    that is. Segments after the last TSval echoed have none.
    """
    of_value = np.searchsorted(echoes.begin_ns, sent.utc_ns, side="right") - 1
    of_echo = np.searchsorted(echoes.echoed, of_value)
    count = len(echoes.echoed)
    packets = np.bincount(of_echo, weights=sent.segment_count, minlength=count + 1)[:count]
    rtt_ns = echoes.back_ns - echoes.begin_ns[echoes.echoed]
    return PacketDelays(rtt_ns / 1e6, packets.astype(np.int64))
