# SPDX-License-Identifier: Apache-2.0
"""A metric in one file: the example of docs/extending.md.

The sending pause is the longest time that a sender leaves between two packets: in each bin, and of
a flow as a whole. Its package names the tuple of metrics in the entry point group `ddu.metrics`,
and the tables, summary.json, the report, the store, `ddu schema` and the documentation have it.
"""

from __future__ import annotations

import numpy as np

from ddu.flows.observe import ObservedFlow
from ddu.metrics.metric import BinMetric, Need, OnBins, SummaryMetric
from ddu.schema.arrays import Float
from ddu.schema.columns import Panel


def pauses_ms(flow: ObservedFlow) -> Float:
    """Return the time since the previous packet for every packet but the first."""
    return np.diff(flow.sent.utc_ns) / 1e6


def longest_per_bin(at: OnBins) -> Float:
    return at.bins.percentiles(at.flow.sent.utc_ns[1:], pauses_ms(at.flow), 100)


METRICS = (
    BinMetric(
        "tcp_sending_pause_ms",
        "longest time between two packets of the sender, of those that end in the bin",
        "Sending pause",
        digits=2,
        needs=(Need.SENDER,),
        compute=longest_per_bin,
        panel=Panel(25),
    ),
    SummaryMetric(
        "sending_pause_ms",
        "longest time between two packets of the sender",
        "Sending pause",
        needs=(Need.SENDER,),
        of_flow=lambda view: float(pauses_ms(view.flow).max(initial=0)),
    ),
)
