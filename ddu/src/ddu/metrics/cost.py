# SPDX-License-Identifier: Apache-2.0
"""What a flow costs the network beside what it brings (wide evaluation, section 7.1)."""

from __future__ import annotations

from ddu.metrics.observe import ObservedFlow

KEYS = (
    "on_wire_ip_bytes", "on_wire_to_goodput_ratio", "retransmissions_per_packet_ratio",
    "retransmissions_per_loss_ratio",
)  # fmt: skip


def transmission_cost(flow: ObservedFlow) -> dict[str, float | None]:
    """On-wire volume of both sides, and retransmissions per packet sent and per packet lost; null
    unless both sides were captured."""
    if not flow.at_both:
        return dict.fromkeys(KEYS)
    sent = int(flow.sent.segment_count.sum())
    goodput = int(flow.delivered[1].sum())
    volume = int(flow.sent.ip_bytes.sum()) + flow.back_ip_bytes
    again = float(flow.retransmissions.count.sum())
    lost = float(flow.lost.count.sum() + flow.lost_before_link.count.sum())
    return {
        "on_wire_ip_bytes": volume,
        "on_wire_to_goodput_ratio": volume / goodput if goodput else None,
        "retransmissions_per_packet_ratio": again / sent if sent and flow.is_tcp else None,
        "retransmissions_per_loss_ratio": again / lost if lost and flow.is_tcp else None,
    }
