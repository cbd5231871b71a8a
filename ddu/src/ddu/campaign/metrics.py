# SPDX-License-Identifier: Apache-2.0
"""The numbers of summary.json by their dotted names, and the labels, units and scales by which
people read them and the aligned table's columns."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

from ddu.metrics.catalogue import PER_FLOW, summary_metric
from ddu.schema.columns import Column
from ddu.tables.columns import column

_NOT_RESULTS = ("software", "cross_checks")
"""The parts of summary.json that are not results: versions, and comparisons of sources."""


class Shown(NamedTuple):
    """The label, unit and scale by which people read a metric."""

    label: str
    unit: str
    scale: float
    """The factor from the metric's own unit to `unit`."""

    @property
    def axis(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


def shown(name: str) -> Shown:
    """Return how a number of summary.json, or a column of the aligned table, is read.

    `rtt_ms.p95` → RTT p95, ms; `tcp_throughput_bps` → Throughput, Mbit/s. A name that is not known
    is its own label.
    """
    head, _, part = name.removeprefix(PER_FLOW).partition(".")
    known: Column = summary_metric(name) or column(head) or Column(head, "")
    label = " ".join([known.title, *part.split()])
    return Shown(label, known.units.shown, known.units.scale)


def value(summary: dict[str, Any], name: str) -> float | None:
    """Return a number of summary.json by its dotted name; None where it is missing or null."""
    item: Any = summary
    for part in name.split("."):
        item = item.get(part) if isinstance(item, dict) else None
    return float(item) if isinstance(item, (int, float)) else None


def flat(summary: dict[str, Any]) -> dict[str, float]:
    """Return all results of a summary by their dotted names, means over flows as `flow.…`."""
    per_flow = [_numbers(flow) for flow in summary.get("flows", [])]
    names = dict.fromkeys(name for flow in per_flow for name in flow)
    return _numbers(summary) | {
        f"{PER_FLOW}{name}": fmean(flow[name] for flow in per_flow if name in flow)
        for name in names
    }


def _numbers(summary: dict[str, Any], prefix: str = "") -> dict[str, float]:
    numbers: dict[str, float] = {}
    for key, item in summary.items():
        if isinstance(item, dict) and key not in _NOT_RESULTS:
            numbers |= _numbers(item, f"{prefix}{key}.")
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            numbers[f"{prefix}{key}"] = float(item)
    return numbers


def names(summary: dict[str, Any], before: str = "") -> Iterator[str]:
    """Yield the dotted names of all entries of summary.json."""
    for name, entry in summary.items():
        if isinstance(entry, dict):
            yield from names(entry, f"{before}{name}.")
        else:
            yield f"{before}{name}"
