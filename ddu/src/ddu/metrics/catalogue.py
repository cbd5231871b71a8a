# SPDX-License-Identifier: Apache-2.0
"""All metrics: those of this package, and those of packages with an entry point `ddu.metrics`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from ddu.console.extensions import extensions
from ddu.errors import UnusablePackage
from ddu.metrics.declared import (
    acknowledgements,
    bound,
    cost,
    datagrams,
    delays,
    fairness,
    losses,
    quic,
    radio,
    rates,
    sockets,
)  # fmt: skip
from ddu.metrics.metric import BinMetric, Metric, Need, SummaryMetric

Stage = Literal["captures", "sockets", "quic", "derived"]
"""When a column is computed: from captures, from samples of the socket, from qlog, from other
columns."""
_GROUP = "ddu.metrics"
_OWN: tuple[Sequence[Metric], ...] = (
    rates.METRICS, delays.METRICS, losses.METRICS, acknowledgements.METRICS, datagrams.METRICS,
    fairness.METRICS, sockets.METRICS, quic.METRICS, radio.METRICS, bound.METRICS,
    cost.METRICS,
)  # fmt: skip

PER_FLOW = "flow."
"""Prefix of the mean of a number over the data flows of a run, as campaigns use it."""
_OPEN = ("technology_ratio.", "events_count.", "mobility.", "alignment.")
"""Prefixes of numbers whose names depend on the sources of the run."""
_OF_EXPERIMENT = ("schema_version", "prb", "bin_ms")
"""Numbers of summary.json that are not measured."""


@cache
def metrics() -> tuple[Metric, ...]:
    """Return all metrics in the order of their columns. Raises UnusablePackage."""
    all_metrics = [metric for declared in _OWN for metric in declared]
    own = {(type(metric), metric.name) for metric in all_metrics}
    for name, declared in extensions(_GROUP).items():
        for metric in declared:
            if (type(metric), metric.name) in own:
                raise UnusablePackage(
                    f"{_GROUP} {name}: there is a metric {metric.name!r} already",
                    "give it another name",
                )
            own.add((type(metric), metric.name))
            all_metrics.append(metric)
    return tuple(all_metrics)


@cache
def bin_metrics(stage: Stage) -> tuple[BinMetric, ...]:
    """Return the columns of one stage."""
    of_bins = (metric for metric in metrics() if isinstance(metric, BinMetric))
    return tuple(metric for metric in of_bins if _stage(metric) == stage)


def _stage(metric: BinMetric) -> Stage:
    if {Need.MAC, Need.CC_TRACE} & {*metric.needs}:
        return "derived"
    if Need.QLOG in metric.needs:
        return "quic"
    return "sockets" if Need.SOCKETS in metric.needs else "captures"


def summary_metrics() -> Iterator[SummaryMetric]:
    return (metric for metric in metrics() if isinstance(metric, SummaryMetric))


@cache
def summary_metric(name: str) -> SummaryMetric | None:
    """Return the metric of a dotted name such as `flow.rtt_ms.p95`; None if there is none."""
    bare = name.removeprefix(PER_FLOW).partition(".")[0]
    return next((metric for metric in summary_metrics() if metric.name == bare), None)


@cache
def numbers_of_run() -> tuple[str, ...]:
    """Return the dotted names of the run's numbers in summary.json."""
    of_run = (metric for metric in summary_metrics() if metric.of_run and metric.is_number)
    return tuple(name for metric in of_run for name in metric.names())


@cache
def numbers_of_flow() -> tuple[str, ...]:
    """Return the dotted names of a flow's numbers in summary.json."""
    of_flow = (metric for metric in summary_metrics() if metric.of_flow and metric.is_number)
    return tuple(name for metric in of_flow for name in metric.names())


@cache
def numbers() -> frozenset[str]:
    """Return all names by which campaigns may ask for a number of summary.json."""
    per_flow = (f"{PER_FLOW}{name}" for name in numbers_of_flow())
    return frozenset({*_OF_EXPERIMENT, *numbers_of_run(), *per_flow})


def is_open(name: str) -> bool:
    """Whether the sources of a run decide if it has a number of this name."""
    return name.startswith(_OPEN)
