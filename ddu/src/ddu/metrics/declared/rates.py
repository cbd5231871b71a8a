# SPDX-License-Identifier: Apache-2.0
"""Time, bytes and rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ddu.flows.observe import ObservedFlow
from ddu.metrics.metric import BinMetric, Need, SummaryMetric
from ddu.metrics.transfer import completion_s, volume_bytes
from ddu.metrics.views import FlowView, RunView
from ddu.schema.columns import Panel


def _received_bytes(flow: ObservedFlow) -> int:
    return int(flow.arrivals[1].sum())


def _delivered_bytes(flow: ObservedFlow) -> int:
    return int(flow.delivered[1].sum())


def received_bps(run: RunView, flows: Sequence[ObservedFlow]) -> float | None:
    """Return the throughput of these flows over the traffic time; None if one is not known."""
    return _rate_bps(run, flows, _received_bytes)


def _rate_bps(
    run: RunView, flows: Sequence[ObservedFlow], size_bytes: Callable[[ObservedFlow], int]
) -> float | None:
    if not all(flow.has_arrivals for flow in flows):
        return None
    return sum(float(size_bytes(flow)) * 8 / run.duration_s for flow in flows)


def _rate_of_flow(size_bytes: Callable[[ObservedFlow], int]) -> Callable[[FlowView], float]:
    return lambda view: float(size_bytes(view.flow)) * 8 / view.duration_s


METRICS = (
    BinMetric(
        "tcp_sending_rate_bps",
        "IP bits of payload packets at the sender, headers and retransmissions included",
        "Sending rate", needs=(Need.SENDER,),
        compute=lambda at: at.bins.rates_bps(at.flow.sent.utc_ns, at.flow.sent.ip_bytes),
        panel=Panel(20, total=True),
    ),
    BinMetric(
        "tcp_throughput_bps", "payload bits that reach the receiver, duplicates included",
        "Throughput", details="its integral is the bytes that the receiver got",
        needs=(Need.ARRIVALS,), compute=lambda at: at.bins.rates_bps(*at.flow.arrivals),
        panel=Panel(10, total=True, limit="mac_{direction}_capacity_sdu_bps"),
    ),
    BinMetric(
        "tcp_throughput_ip_bps", "IP bits of payload packets at the receiver",
        "Throughput in IP bits", details="comparable with the sending rate", needs=(Need.RECEIVER,),
        compute=lambda at: at.bins.rates_bps(at.flow.received.utc_ns, at.flow.received.ip_bytes),
    ),
    BinMetric(
        "tcp_goodput_bps", "new payload bits, counted when they and all before them have arrived",
        "Goodput",
        details="a byte counts when the last of all bytes up to it has arrived. Bytes that the "
        "capture missed arrive when they are acknowledged", needs=(Need.ARRIVALS,),
        compute=lambda at: at.bins.rates_bps(*at.flow.delivered),
    ),
    SummaryMetric(
        "start_s", "start of the flow after the start of the traffic, as configured", "Start",
        of_flow=lambda view: view.flow.flow.start_s, in_report=False,
    ),
    SummaryMetric(
        "duration_s",
        "traffic time: from the first payload packet sent to the last one sent or received (of the "
        "sender's side alone: to the last new ACK)",
        "Duration", of_run=lambda run: run.duration_s, of_flow=lambda view: view.duration_s,
        in_report=False,
    ),
    SummaryMetric(
        "sent_payload_bytes", "payload bytes sent, retransmissions included", "Payload sent",
        needs=(Need.SENDER,), of_table=lambda flow: int(flow.sent.payload_bytes.sum()),
    ),
    SummaryMetric(
        "received_payload_bytes", "payload bytes that reached the receiver, duplicates included",
        "Payload received", needs=(Need.ARRIVALS,), of_flow=lambda view: _received_bytes(view.flow),
        in_report=False,
    ),
    SummaryMetric(
        "received_payload_bytes", "payload bytes in the receiver's capture, duplicates included",
        "Payload received", needs=(Need.RECEIVER,), of_table=_received_bytes,
    ),
    SummaryMetric(
        "goodput_bytes", "new payload bytes, in order", "Goodput", needs=(Need.ARRIVALS,),
        of_table=_delivered_bytes,
    ),
    SummaryMetric(
        "volume_bytes", "payload after which the flow ends", "Volume of the flow",
        details="`tcp:100MB`, `quic:volume=100MB`; absent of flows that end with the run",
        if_known=True, of_flow=lambda view: volume_bytes(view.flow), in_report=False,
    ),
    SummaryMetric(
        "completion_s", "time from the first payload packet sent until the volume had arrived",
        "Completion time",
        details="in order; over QUIC from the first packet that may have payload in the sender's "
        "qlog, until the receiver had counted it; of the run: of all flows. Absent unless all "
        "flows have a volume and completed it",
        needs=(Need.ARRIVALS,), if_known=True,
        of_run=lambda run: completion_s(run.run, run.flows),
        of_flow=lambda view: completion_s(view.run, [view.flow]),
    ),
    SummaryMetric(
        "throughput_bps", "payload bits received, over the traffic time", "Throughput",
        details="of the run: all data flows over `duration_s`; of a flow: over its own time",
        needs=(Need.ARRIVALS,), of_run=lambda run: received_bps(run, run.flows),
        of_flow=_rate_of_flow(_received_bytes),
    ),
    SummaryMetric(
        "goodput_bps", "new payload bits, in order at the receiver, over the traffic time",
        "Goodput", needs=(Need.ARRIVALS,),
        of_run=lambda run: _rate_bps(run, run.flows, _delivered_bytes),
        of_flow=_rate_of_flow(_delivered_bytes),
    ),
)  # fmt: skip
