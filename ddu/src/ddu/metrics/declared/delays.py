# SPDX-License-Identifier: Apache-2.0
"""Round-trip times and one-way delays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ddu.flows.observe import ObservedFlow
from ddu.flows.packet_delay import PacketDelays, together
from ddu.metrics.desired_delay import desired_delay
from ddu.metrics.distribution import WITHIN_MS, quantiles, share_within
from ddu.metrics.metric import BinMetric, Need, OnBins, SummaryMetric
from ddu.metrics.views import FlowView, RunView
from ddu.schema.arrays import Float
from ddu.schema.columns import Panel

_BOTH = (Need.BOTH,)
_PERCENTS = {"p50": 50, "p95": 95, "p99": 99}
_PARTS = ("mean", *_PERCENTS)


def _distribution(values: Float) -> dict[str, float | None]:
    return quantiles(values, **_PERCENTS)


def _all_rtts(run: RunView) -> Float:
    return np.concatenate([flow.rtt.value_ms for flow in run.flows])


def _of_packets(
    name: str, definition: str, label: str, details: str, needs: tuple[Need, ...],
    delays: Callable[[ObservedFlow], PacketDelays],
) -> SummaryMetric:  # fmt: skip
    """Return the declaration of a delay over packets, of a run and of its flows."""
    return SummaryMetric(
        name, definition, label, details=details, needs=needs, parts=_PARTS,
        of_run=lambda run: together([delays(flow) for flow in run.flows]).distribution,
        of_flow=lambda view: delays(view.flow).distribution,
    )  # fmt: skip


def _least_rtt(run: RunView) -> float | None:
    rtt_ms = _all_rtts(run)
    return float(rtt_ms.min()) if len(rtt_ms) else None


def _above_least(at: OnBins) -> Float:
    owd = at.flow.one_way_delay
    return at.mean(owd) - float(owd.value_ms.min(initial=np.inf))


def _self_inflicted(view: FlowView) -> float | None:
    owd_ms = view.flow.one_way_delay.value_ms
    p95_ms = _distribution(owd_ms)["p95"]
    return None if p95_ms is None else p95_ms - float(owd_ms.min())


def _share_within(budget_ms: int) -> Callable[[FlowView], float | None]:
    return lambda view: share_within(view.flow, budget_ms)


METRICS: tuple[BinMetric | SummaryMetric, ...] = (
    BinMetric(
        "tcp_rtt_ms", "mean RTT of the bin, by TCP timestamps at the sender (RFC 7323)", "RTT",
        details="for each TSval *v*, at the time of the ACK: t(first packet of the receiver with "
        "the ACK flag and TSecr = *v*) minus t(first payload packet sent with TSval = *v*)",
        needs=(Need.SENDER,), protocol="tcp", compute=lambda at: at.mean(at.flow.rtt),
        panel=Panel(15, weight="tcp_rtt_count"),
    ),
    BinMetric(
        "tcp_rtt_p95_ms", "95th percentile (nearest rank) of the bin's RTT samples", "RTT, p95",
        needs=(Need.SENDER,), protocol="tcp",
        compute=lambda at: at.bins.percentiles(at.flow.rtt.utc_ns, at.flow.rtt.value_ms, 95),
    ),
    BinMetric(
        "tcp_rtt_count", "RTT samples in the bin", "RTT samples", digits=0, needs=(Need.SENDER,),
        protocol="tcp", compute=lambda at: at.bins.counts(at.flow.rtt.utc_ns),
    ),
    BinMetric(
        "tcp_rtt_seq_ms",
        "mean RTT by sequence numbers, of bytes sent once (Karn; RFC 6298 section 3)",
        "RTT by sequence numbers",
        details="for each ACK that advances: t(ACK) minus t(first packet that sent the last byte "
        "acknowledged); no sample if that byte was sent more than once", needs=(Need.SENDER,),
        protocol="tcp", compute=lambda at: at.mean(at.flow.rtt_by_sequence),
    ),
    BinMetric(
        "tcp_owd_ms", "mean one-way delay of packets sent once", "One-way delay",
        details="for each packet in R: its time minus that of the packet in S that sent its last "
        "byte, so that offloads may cut and merge; no sample if that byte was sent more "
        "than once", needs=_BOTH, protocol="tcp", compute=lambda at: at.mean(at.flow.one_way_delay),
    ),
    BinMetric(
        "tcp_self_inflicted_delay_ms", "one-way delay minus the smallest of the flow",
        "Self-inflicted delay", details="the delay of queues, those of other flows included",
        needs=_BOTH, protocol="tcp", compute=_above_least,
    ),
    SummaryMetric(
        "rtt_ms", "RTT by TCP timestamps at the sender", "RTT",
        details="mean and percentiles of all samples", needs=(Need.SENDER,), parts=_PARTS,
        of_run=lambda run: _distribution(_all_rtts(run)),
        of_flow=lambda view: _distribution(view.flow.rtt.value_ms),
    ),
    _of_packets(
        "packet_rtt_ms", "RTT by TCP timestamps at the sender, over packets", "RTT of packets",
        "as `rtt_ms`, but each TSval counts as often as segments were sent with it, or with those "
        "before it that were not echoed; percentiles by nearest rank", (Need.SENDER,),
        lambda flow: flow.packet_rtt,
    ),
    SummaryMetric(
        "rtt_floor_ms", "smallest RTT sample", "RTT floor", needs=(Need.SENDER,), of_run=_least_rtt,
    ),
    SummaryMetric(
        "path_rtt_ms", "configured delay of the path, both directions", "Path RTT",
        of_run=lambda run: run.run.path_rtt_ms,
    ),
    SummaryMetric(
        "mac_floor_ms", "mean delay that the MAC adds to a packet at an empty queue, by nr-link",
        "MAC floor", parts=("dl", "ul"),
        of_run=lambda run: run.run.link_summary.get("mac_floor_ms"),
    ),
    SummaryMetric(
        "owd_ms", "one-way delay, from both captures", "One-way delay",
        details="mean and percentiles of all samples", needs=_BOTH, parts=_PARTS,
        of_flow=lambda view: _distribution(view.flow.one_way_delay.value_ms),
    ),
    _of_packets(
        "packet_owd_ms", "one-way delay, over packets", "One-way delay of packets",
        "as `owd_ms`, but a super-packet counts as its segments; percentiles by nearest rank",
        _BOTH, lambda flow: flow.packet_owd,
    ),
    SummaryMetric(
        "self_inflicted_delay_ms", "95th percentile minus the smallest one-way delay",
        "Self-inflicted delay",
        details="after Winstein et al., NSDI 2013, section 5, who subtract the smallest "
        "possible delay", needs=_BOTH, of_flow=_self_inflicted,
        # A queue that never empties raises the smallest delay, which is not the path's then.
        in_report=False,
    ),
    *(
        SummaryMetric(
            f"within_{budget}ms_ratio",
            f"packets with a one-way delay of at most {budget} ms, of those with one or lost",
            f"Within {budget} ms", needs=_BOTH,
            of_flow=_share_within(budget),
        )
        for budget in WITHIN_MS
    ),
    SummaryMetric(
        "dtt_ms", "delay tolerance threshold", "DTT",
        details="median of the congestion control's own trace, else 1.5 times the smallest RTT; "
        "`dtt_source` says which", needs=(Need.SENDER,), protocol="tcp",
        of_flow=lambda view: view.once(desired_delay)["dtt_ms"], in_report=False,
    ),
    SummaryMetric(
        "dtt_source", "source of the DTT", declared_unit="name", needs=(Need.SENDER,),
        protocol="tcp", of_flow=lambda view: view.once(desired_delay)["dtt_source"],
        in_report=False,
    ),
    SummaryMetric(
        "d3_ratio", "mean RTT divided by the DTT", "Delay over desired delay", declared_unit="1",
        needs=(Need.SENDER,), protocol="tcp",
        of_flow=lambda view: view.once(desired_delay)["d3_ratio"],
        # A flow without a threshold of its own desires no delay.
        means_something=lambda flow: flow["dtt_source"] == "trace",
    ),
)  # fmt: skip
