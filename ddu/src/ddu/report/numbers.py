# SPDX-License-Identifier: Apache-2.0
"""The numbers of the report, as people read them: label, value, unit, definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ddu.metrics.catalogue import summary_metrics
from ddu.metrics.metric import SummaryMetric
from ddu.schema.units import Unit

_PARTS = {
    "mean": ("mean", ""),
    "p50": ("median", ""),
    "p95": ("p95", "; 95 % of the samples are below"),
    "p99": ("p99", "; 99 % of the samples are below"),
    "dl": ("downlink", ""),
    "ul": ("uplink", ""),
}
"""Name of a part, and what it adds to the definition."""
_GAUGE = {"mean", "p5", "p95"}


@dataclass(frozen=True)
class Row:
    """A number of the run, or of each flow in their order."""

    label: str
    unit: str
    values: list[str]
    definition: str


def run_rows(summary: dict[str, Any]) -> list[Row]:
    """Return the numbers of the run; those that were not measured are n/a."""
    return [
        row
        for metric in summary_metrics()
        if metric.of_run and metric.in_report
        for row in _rows(metric, [summary])
    ]


def flow_rows(flows: list[dict[str, Any]]) -> list[Row]:
    """Return the numbers that some flow has."""
    return [
        row
        for metric in summary_metrics()
        if metric.of_flow and metric.in_report
        for row in _rows(metric, flows)
        if any(value != "n/a" for value in row.values)
    ]


def _rows(metric: SummaryMetric, of: list[dict[str, Any]]) -> Iterator[Row]:
    unit = metric.units
    values_of_metric: list[Any] = [content.get(metric.name) for content in of]
    if {*metric.parts} == _GAUGE:
        means = [_number(value["mean"], unit) for value in values_of_metric]
        definition = f"{metric.definition}; mean, {_spread(values_of_metric[0], unit)}"
        yield Row(metric.title, unit.shown, means, definition)
        return
    for part in metric.parts or ("",):
        name, more = _PARTS.get(part, (part, ""))
        label = f"{metric.title}, {name}" if name else metric.title
        values = (
            [(value or {}).get(part) for value in values_of_metric] if part else values_of_metric
        )
        shown = [_number(value, unit) for value in values]
        yield Row(label, unit.shown, shown, metric.definition + more)


_ACCOUNTS = {
    "mac_sdu_bytes": ("by the MAC", "B", "delivered in the first flow's direction"),
    "receiver_ip_bytes": ("by the receiver's capture", "B", "IP bytes to the receiver"),
    "mac_to_receiver_ratio": ("MAC over capture", "1", "1: every byte crossed the MAC"),
    "iperf3_receiver_bytes": ("by iperf3's receiver", "B", "payload that it read"),
    "aligned_payload_bytes": ("by the aligned table", "B", "integral of the throughput"),
    "readable_until_iperf3_stopped_bytes": (
        "by the capture, until iperf3 stopped", "B", "payload that could be read in order"),
    "readable_to_iperf3_ratio": ("capture over iperf3", "1", "1: both counted the same"),
}  # fmt: skip


def accounts(checks: dict[str, Any]) -> list[Row]:
    """Return the accounts of the same bytes."""
    rows = []
    for key, value in checks.items():
        label, name, definition = _ACCOUNTS.get(key, (key.replace("_", " "), "", ""))
        digits = 4 if name == "1" else 0
        rows.append(Row(label, name, [_number(value, Unit(shown_digits=digits))], definition))
    return rows


def _number(value: float | None, unit: Unit) -> str:
    if value is None:
        return "n/a"
    return f"{value * unit.scale:,.{unit.shown_digits}f}".replace(",", "\u202f")


def _spread(values: dict[str, float | None], unit: Unit) -> str:
    if values["p5"] is None:
        return "not measured"
    return f"90 % between {_number(values['p5'], unit)} and {_number(values['p95'], unit)}"
