# SPDX-License-Identifier: Apache-2.0
"""Transmission cost (Lin et al., section 7.1) and convergence (section 4.3)."""

from __future__ import annotations

from ddu.flows.observe import ObservedFlow
from ddu.metrics.convergence import convergence
from ddu.metrics.metric import Need, SummaryMetric
from ddu.metrics.views import FlowView

_BOTH = (Need.SENDER, Need.RECEIVER)
_CWND = (Need.SOCKETS,)


def _volume_bytes(flow: ObservedFlow) -> int:
    """Return the IP bytes that both ends sent."""
    return int(flow.sent.ip_bytes.sum()) + flow.back_ip_bytes


def _volume_per_goodput(flow: ObservedFlow) -> float | None:
    _, goodput_bytes = flow.delivered
    return _ratio(_volume_bytes(flow), int(goodput_bytes.sum()))


def _retransmissions_per_packet(flow: ObservedFlow) -> float | None:
    retransmitted = float(flow.retransmissions.count.sum())
    return _ratio(retransmitted, int(flow.sent.segment_count.sum()))


def _retransmissions_per_loss(flow: ObservedFlow) -> float | None:
    lost = float(flow.lost.count.sum() + flow.lost_before_link.count.sum())
    return _ratio(float(flow.retransmissions.count.sum()), lost)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _convergence(view: FlowView) -> dict[str, float | None]:
    run_start_utc_ns = int(view.aligned["utc_ns"].iloc[0])
    return convergence(view.aligned, (view.flow.first_utc_ns - run_start_utc_ns) / 1e9)


METRICS = (
    SummaryMetric(
        "on_wire_ip_bytes", "IP bytes that both ends sent", "Volume",
        details="the paper counts Ethernet frames: 14 B more per packet", needs=_BOTH,
        of_flow=lambda view: _volume_bytes(view.flow), in_report=False,
    ),
    SummaryMetric(
        "on_wire_to_goodput_ratio", "IP bytes that both ends sent, over goodput bytes",
        "Transmission cost", "1", needs=_BOTH,
        of_flow=lambda view: _volume_per_goodput(view.flow),
    ),
    SummaryMetric(
        "retransmissions_per_packet_ratio", "segments retransmitted, over segments sent",
        "Retransmissions per packet", needs=_BOTH, protocol="tcp",
        of_flow=lambda view: _retransmissions_per_packet(view.flow), in_report=False,
    ),
    SummaryMetric(
        "retransmissions_per_loss_ratio",
        "segments retransmitted, over segments lost before and in the link",
        "Retransmissions per loss", "1", needs=_BOTH, protocol="tcp",
        of_flow=lambda view: _retransmissions_per_loss(view.flow), in_report=False,
    ),
    SummaryMetric(
        "convergence_time_s",
        "time from the flow's start until the mean window is first near its mean",
        "Convergence time",
        details="μ(t): mean congestion window of the last W, sampled every 0.1 s; μ̄: its mean. "
        "Near: within 80 … 120 % of μ̄", needs=_CWND, protocol="tcp",
        of_flow=lambda view: view.once(_convergence)["convergence_time_s"],
    ),
    SummaryMetric(
        "stability_bytes", "spread of the mean window after it converged", "Stability",
        details="standard deviation of μ from μ̄", needs=_CWND, protocol="tcp",
        of_flow=lambda view: view.once(_convergence)["stability_bytes"],
    ),
    SummaryMetric(
        "convergence_window_s", "W: 30 s, in flows below 300 s a tenth of the flow",
        "Convergence window", needs=_CWND, protocol="tcp",
        of_flow=lambda view: view.once(_convergence)["convergence_window_s"], in_report=False,
    ),
)  # fmt: skip
