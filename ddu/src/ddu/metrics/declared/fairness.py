# SPDX-License-Identifier: Apache-2.0
"""Fairness between flows and between congestion controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ddu.metrics.fairness import friendliness, jain
from ddu.metrics.metric import BinMetric, Need, SummaryMetric
from ddu.metrics.views import RunView
from ddu.schema.columns import Panel


def _jain_of_run(run: RunView, sizes: Sequence[tuple[Any, Any]]) -> float | None:
    """Return the index of the bytes of all flows; null if some flow's are not known."""
    if len(sizes) < len(run.flows):
        return None
    within = np.array([run.in_common_time(*each) for each in sizes])
    value = float(jain(within[:, None])[0])
    return None if np.isnan(value) else value


def _throughput(run: RunView) -> float | None:
    return _jain_of_run(run, [flow.arrivals for flow in run.flows if flow.has_arrivals])


def _sending_rate(run: RunView) -> float | None:
    sent = [flow.sent for flow in run.flows if flow.at_sender]
    return _jain_of_run(run, [(segments.utc_ns, segments.ip_bytes) for segments in sent])


def _friendliness(run: RunView) -> float | None:
    if not all(flow.has_arrivals for flow in run.flows):
        return None
    within = [run.in_common_time(*flow.delivered) for flow in run.flows]
    return friendliness(within, [flow.flow.cc for flow in run.flows])


_JAIN = "(Σx)² / (n·Σx²) over the flows between their first and last payload packet"

METRICS = (
    BinMetric(
        "jain_throughput",
        "1: all active flows get the same; 1/n: one gets all; null below two flows",
        "Jain's index of throughput", "1", details=_JAIN, needs=(Need.ARRIVALS,),
        across=("tcp_throughput_bps", jain), panel=Panel(30, per_flow=False),
    ),
    BinMetric(
        "jain_sending_rate", "the same for the sending rate", "Jain's index of sending rate", "1",
        details=_JAIN, needs=(Need.SENDER,), across=("tcp_sending_rate_bps", jain),
    ),
    SummaryMetric(
        "jain_throughput",
        "index of the bytes received while all flows send; 1 is fair, null below two flows",
        "Jain's index", "1", needs=(Need.ARRIVALS,), of_run=_throughput,
    ),
    SummaryMetric(
        "jain_sending_rate", "index of the bytes sent while all flows send",
        "Jain's index of sending", "1", needs=(Need.SENDER,), of_run=_sending_rate, in_report=False,
    ),
    SummaryMetric(
        "friendliness", "Jain's index between congestion controls; null unless several compete",
        "Friendliness", "1",
        details="from the mean goodput of the flows of each, while all flows send. ≥ 0.95 is "
        "reasonable, ≥ 0.99 optimal (Lin et al., section 4.2)", needs=(Need.ARRIVALS,),
        of_run=_friendliness, in_report=False,
    ),
)  # fmt: skip
