# SPDX-License-Identifier: Apache-2.0
"""Retransmissions, losses and reordering."""

from __future__ import annotations

from collections.abc import Callable

from ddu.flows.loss import Events
from ddu.flows.observe import ObservedFlow
from ddu.metrics.metric import BinMetric, Need, OnBins, SummaryMetric
from ddu.metrics.views import FlowView, RunView
from ddu.schema.arrays import Float
from ddu.schema.columns import Panel

EventsOf = Callable[[ObservedFlow], Events]
_SENDER, _BOTH = (Need.SENDER,), (Need.BOTH,)


def _per_bin(events: EventsOf) -> Callable[[OnBins], Float]:
    """Return the sum of a flow's events in each bin, for the aligned table."""
    return lambda at: at.sum(events(at.flow))


def _of_table(events: EventsOf) -> Callable[[ObservedFlow], int]:
    """Return the sum of a flow's events, for the flows table."""
    return lambda flow: int(events(flow).count.sum())


def _of_flow(events: EventsOf) -> Callable[[FlowView], int]:
    """Return the same sum, for the flow in summary.json."""
    return lambda view: int(events(view.flow).count.sum())


def _of_run(events: EventsOf, needs: tuple[Need, ...]) -> Callable[[RunView], int | None]:
    """Return the sum over the run's TCP flows; null without any, or if one was not captured as
    needed."""

    def total(run: RunView) -> int | None:
        if not run.tcp or not all(need.is_met_by(flow) for flow in run.tcp for need in needs):
            return None
        return sum(int(events(flow).count.sum()) for flow in run.tcp)

    return total


def _counted(
    name: str,
    label: str,
    definition: str,
    events: EventsOf,
    needs: tuple[Need, ...],
    *,
    details: str = "",
    panel: Panel | None = None,
    of_flow: bool = False,
) -> tuple[BinMetric, SummaryMetric]:
    """Return the column and the number of one kind of events of TCP flows; report.html shows the
    number if each flow has it too."""
    return (
        BinMetric(
            f"tcp_{name}", definition, label, "segments", digits=0, needs=needs, protocol="tcp",
            details=details, compute=_per_bin(events), panel=panel,
        ),
        SummaryMetric(
            name, definition, label, "segments", digits=0, needs=needs, protocol="tcp",
            of_run=_of_run(events, needs), of_table=_of_table(events),
            of_flow=_of_flow(events) if of_flow else None, in_report=of_flow,
        ),
    )  # fmt: skip


def _lost(flow: ObservedFlow) -> Events:
    """Return the losses of a flow of TCP or UDP; columns and sums of the run have TCP's alone."""
    return flow.lost


_LOST = "copies in the sender's capture but not in the receiver's"

_RETRANSMISSIONS = _counted(
    "retransmissions_count", "Retransmissions", "segments retransmitted",
    lambda flow: flow.retransmissions, _SENDER,
    details="payload below the highest sequence number sent before it",
    panel=Panel(70, as_dots=True, in_wider_bins="sum"), of_flow=True,
)  # fmt: skip
_FAST = _counted(
    "fast_retransmissions_count", "Fast retransmissions",
    "retransmissions that ACKs caused", lambda flow: flow.causes.fast, _SENDER,
    details="data sent after the previous copy had been acknowledged or was in a "
    "SACK block (RFC 8985 section 6.2), or three duplicate ACKs came in a row since then "
    "(RFC 5681 section 3.2)",
)  # fmt: skip
_TIMEOUT = _counted(
    "timeout_retransmissions_count", "Timeout retransmissions",
    "retransmissions that a timer caused", lambda flow: flow.causes.timeout, _SENDER,
    details="all others: the retransmission timer (RFC 6298) or a tail loss probe",
)  # fmt: skip
_SPURIOUS = _counted(
    "spurious_retransmissions_count", "Spurious retransmissions",
    "retransmissions of bytes of which an earlier copy arrived",
    lambda flow: flow.fates.spurious, _BOTH, details="of both kinds",
)  # fmt: skip
_LOST_BEFORE_LINK = _counted(
    "lost_before_link_count", "Lost before the link",
    "segments sent by TCP that never reached the link's interface",
    lambda flow: flow.lost_before_link, _SENDER,
    details="sequence numbers that the next packet skips",
)  # fmt: skip
_LOST_IN_LINK = (
    BinMetric(
        "tcp_lost_in_link_count", _LOST, "Lost in the link", "segments", digits=0,
        details="counted per byte, at the time of sending; the earliest copies count as lost; "
        "above the last byte received, if it was not acknowledged and the captures went on for "
        "longer than any packet took. "
        "Packets that the link's device refused (`host_drop_count`) are included", needs=_BOTH,
        protocol="tcp", compute=_per_bin(lambda flow: flow.fates.lost),
    ),
    SummaryMetric(
        "lost_in_link_count", _LOST, "Lost in the link", "packets", digits=0,
        details="of the run: sum over TCP flows", needs=_BOTH,
        of_run=_of_run(lambda flow: flow.fates.lost, _BOTH), of_flow=_of_flow(_lost),
        of_table=_of_table(_lost),
    ),
)  # fmt: skip
_REORDERED = (
    BinMetric(
        "tcp_reordered_count",
        "packets that arrived below the highest sequence number, sent once (RFC 4737)", "Reordered",
        "packets", digits=0, needs=_BOTH, protocol="tcp",
        compute=_per_bin(lambda flow: flow.reordered),
    ),
    SummaryMetric(
        "reordered_count", "packets that arrived out of order", "Reordered", "packets", digits=0,
        needs=_BOTH, protocol="tcp", of_table=_of_table(lambda flow: flow.reordered),
    ),
)  # fmt: skip

_ON_BINS = (_RETRANSMISSIONS, _LOST_BEFORE_LINK, _FAST, _TIMEOUT, _SPURIOUS, _LOST_IN_LINK)
_OF_FLOWS = (_LOST_IN_LINK, _RETRANSMISSIONS, _FAST, _TIMEOUT, _LOST_BEFORE_LINK, _SPURIOUS)
METRICS: tuple[BinMetric | SummaryMetric, ...] = (
    *(column for column, _ in (*_ON_BINS, _REORDERED)),
    *(number for _, number in (*_OF_FLOWS, _REORDERED)),
)
"""In the order of the transport table, then of the flows table."""
