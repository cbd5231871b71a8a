# SPDX-License-Identifier: Apache-2.0
"""Cost of a flow to the network: volume and retransmissions (wide evaluation, section 7.1)."""

from __future__ import annotations

from ddu.metrics.observe import ObservedFlow


def volume_bytes(flow: ObservedFlow) -> int:
    """Return the IP bytes that both ends sent."""
    return int(flow.sent.ip_bytes.sum()) + flow.back_ip_bytes


def volume_per_goodput(flow: ObservedFlow) -> float | None:
    return _ratio(volume_bytes(flow), int(flow.delivered[1].sum()))


def retransmissions_per_packet(flow: ObservedFlow) -> float | None:
    retransmitted = float(flow.retransmissions.count.sum())
    return _ratio(retransmitted, int(flow.sent.segment_count.sum()))


def retransmissions_per_loss(flow: ObservedFlow) -> float | None:
    lost = float(flow.lost.count.sum() + flow.lost_before_link.count.sum())
    return _ratio(float(flow.retransmissions.count.sum()), lost)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
