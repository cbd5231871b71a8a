# SPDX-License-Identifier: Apache-2.0
"""ACK blocks and bytes in flight."""

from __future__ import annotations

import numpy as np

from ddu.align.bins import Bins
from ddu.metrics.metric import BinMetric, Need, SummaryMetric
from ddu.metrics.views import FlowView
from ddu.readers.packets.segments import Acks, Segments
from ddu.schema.arrays import Float, Int
from ddu.schema.columns import Panel

_SENDER = (Need.SENDER,)


def _inflight_bytes(bins: Bins, data: Segments, acks: Acks) -> Float:
    """Return highest byte sent minus highest byte acknowledged (not SACKed) at each bin's end.

    Null before the first payload packet. After it the state is known at every instant.
    """
    ends = bins.edges_utc_ns[1:]
    sent = _reached(ends, data.utc_ns, data.end)
    acknowledged = _reached(ends, acks.utc_ns, acks.ack)
    started = ends > data.utc_ns[0] if len(data) else np.zeros(bins.count, dtype=bool)
    return np.where(started, np.maximum(sent - acknowledged, 0.0), np.nan)


def _reached(instants: Int, utc_ns: Int, numbers: Int) -> Float:
    """Return the highest number seen before each instant, 0 before any."""
    highest = np.concatenate([[0], np.maximum.accumulate(np.maximum(numbers, 0))])
    index = np.searchsorted(utc_ns, instants, side="left")
    return highest[index].astype(np.float64)


def _mean_packets(view: FlowView) -> float | None:
    packets = view.flow.ack_blocks.packets
    return float(packets.mean()) if len(packets) else None


METRICS = (
    BinMetric(
        "tcp_ack_blocks_per_s",
        "blocks of ACKs that begin in the bin: ACKs between which the sender sends no payload",
        "ACK blocks",
        details="only ACKs without payload count (Lin et al., section 6.1.1, note 5)",
        needs=_SENDER, protocol="tcp",
        compute=lambda at: at.bins.counts(at.flow.ack_blocks.utc_ns) / at.bins.width_s,
    ),
    BinMetric(
        "tcp_packets_per_ack_block", "mean number of segments that a block acknowledges",
        "Packets per ACK block", "segments", details="new bytes / the flow's mean segment",
        needs=_SENDER, protocol="tcp",
        compute=lambda at: at.bins.means(at.flow.ack_blocks.utc_ns, at.flow.ack_blocks.packets),
    ),
    BinMetric(
        "tcp_inflight_bytes", "highest byte sent minus highest acknowledged, at the bin's end",
        "In flight", digits=0, details="SACK blocks are not subtracted", needs=_SENDER,
        protocol="tcp", compute=lambda at: _inflight_bytes(at.bins, at.flow.sent, at.flow.acks),
        panel=Panel(50),
    ),
    SummaryMetric(
        "ack_blocks_per_s", "ACK blocks per second of the flow's duration", "ACK blocks",
        needs=_SENDER, protocol="tcp",
        of_flow=lambda view: len(view.flow.ack_blocks.utc_ns) / view.duration_s, in_report=False,
    ),
    SummaryMetric(
        "packets_per_ack_block", "mean number of segments that an ACK block acknowledges",
        "Packets per ACK block", "segments", needs=_SENDER, protocol="tcp", of_flow=_mean_packets,
    ),
)  # fmt: skip
