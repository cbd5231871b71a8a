# SPDX-License-Identifier: Apache-2.0
"""The declaration of a metric: name, unit, needs, computation, label, definition, digits.

Column sets, `ddu schema`, the report, the store's columns and the tables of docs/metrics.md follow
from the declarations in ddu/metrics/declared and in packages that name an entry point of the group
`ddu.metrics` (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.flows.loss import Events
from ddu.flows.observe import ObservedFlow
from ddu.flows.rtt import Samples
from ddu.metrics.views import FlowView, RunView
from ddu.schema.arrays import Float
from ddu.schema.columns import Column

Protocol = Literal["tcp", "udp"]
Value = float | int | str | dict[str, float | None] | None


class Need(Enum):
    """A source without which a metric is null; the value is its name in docs/metrics.md."""

    SENDER = "S"
    RECEIVER = "R"
    BOTH = "S, R"
    """Each packet in both captures: of UDP, none may hold several datagrams."""
    ARRIVALS = "R, else ACKs in S"
    """The bytes that arrived, by the receiver's capture, or by the ACKs in the sender's."""
    SOCKETS = "sockets"
    CC_TRACE = "cc trace"
    QLOG = "qlog"
    MAC = "MAC"

    def is_met_by(self, flow: ObservedFlow) -> bool:
        """Return whether the captures of this flow have it; other sources are not checked."""
        has = {
            Need.SENDER: flow.at_sender,
            Need.RECEIVER: flow.at_receiver,
            Need.BOTH: flow.is_paired,
            Need.ARRIVALS: flow.has_arrivals,
        }
        return has.get(self, True)


@dataclass(frozen=True)
class _Needing(Column):
    """A column or number that is null without the sources that it needs."""

    needs: tuple[Need, ...] = ()
    protocol: Protocol | None = None
    """The only protocol whose flows have it; None for both."""
    details: str = ""
    """The addition to the definition in docs/metrics.md: enough to compute the metric again."""

    def is_known_of(self, flow: ObservedFlow) -> bool:
        """Return whether this flow's protocol has the metric, and its captures what it needs."""
        has_it = self.protocol in (None, "tcp" if flow.is_tcp else "udp")
        return has_it and all(need.is_met_by(flow) for need in self.needs)


@dataclass(frozen=True)
class OnBins:
    """A flow, the bins, and the flow's sources besides its captures: each is there only for the
    metrics that need it."""

    flow: ObservedFlow
    bins: Bins
    sockets: pd.DataFrame | None = None
    """The socket's last sample before each bin's end: a row for each bin (SOCKETS)."""
    quic: pd.DataFrame | None = None
    """The flow's rows of the table `quic`, at the times that the log has (QLOG)."""
    quic_latest: pd.DataFrame | None = None
    """The last of them before each bin's end: a row for each bin (QLOG)."""
    aligned: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The flow's rows of the aligned table, one for each bin (MAC, CC_TRACE)."""

    def mean(self, samples: Samples) -> Float:
        """Return the mean of the samples in each bin, ms."""
        return self.bins.means(samples.utc_ns, samples.value_ms)

    def sum(self, events: Events) -> Float:
        """Return the number of events in each bin."""
        return self.bins.sums(events.utc_ns, events.count)


@dataclass(frozen=True)
class BinMetric(_Needing):
    """A column of the aligned table: one value per bin and flow, null where it is not known."""

    compute: Callable[[OnBins], Float | pd.Series[Any]] | None = None
    across: tuple[str, Callable[[Float], Float]] | None = None
    """In place of `compute`, for a metric across flows: the column that it is made from, and a
    function of that column's values (a row for each flow, NaN while it is not active)."""

    def values(self, at: OnBins) -> Float | pd.Series[Any]:
        """Return the flow's values; null throughout where its captures lack what is needed."""
        if self.compute is None or not self.is_known_of(at.flow):
            return np.full(at.bins.count, np.nan)
        return self.compute(at)


@dataclass(frozen=True)
class SummaryMetric(_Needing):
    """A number of summary.json, or a dictionary of a few: of the run, of each flow, or of both."""

    of_run: Callable[[RunView], Value] | None = None
    of_flow: Callable[[FlowView], Value] | None = None
    of_table: Callable[[ObservedFlow], int] | None = None
    """Its value in the column of the same name in the flows table."""
    parts: tuple[str, ...] = ()
    """Names of the parts, as mean and p95, of a value that is a dictionary."""
    if_known: bool = False
    """True if summary.json has it only of a flow or run where it is known, and else no null."""
    in_report: bool = True
    """True if report.html shows it."""
    means_something: Callable[[dict[str, Any]], bool] | None = None
    """Returns whether report.html shows it of the run or flow with this summary; None: of each."""

    @property
    def is_number(self) -> bool:
        return self.declared_unit != "name"

    @property
    def null(self) -> Value:
        """The value of a flow or run that does not have it."""
        return dict.fromkeys(self.parts) if self.parts else None

    def names(self) -> tuple[str, ...]:
        """The dotted names of its numbers in summary.json."""
        return tuple(f"{self.name}.{part}" for part in self.parts) or (self.name,)


Metric = BinMetric | SummaryMetric
