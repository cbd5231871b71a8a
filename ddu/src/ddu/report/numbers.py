# SPDX-License-Identifier: Apache-2.0
"""The numbers of the report, as people read them: label, value, unit, definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ddu.metrics.catalogue import summary_metric, summary_metrics
from ddu.metrics.metric import SummaryMetric
from ddu.report.volume import completed
from ddu.schema.units import Unit

_PARTS = {
    "mean": ("mean", ""),
    "p50": ("median", ""),
    "p95": ("p95", "; 95 % of the samples are below"),
    "p99": ("p99", "; 99 % of the samples are below"),
    "dl": ("downlink", ""),
    "ul": ("uplink", ""),
}
"""Name of each part of a metric, and its addition to the metric's definition."""
_GAUGE = {"mean", "p5", "p95"}
"""Metrics with these parts have one row: the mean, with the spread in the definition."""
_UNKNOWN = "n/a"


@dataclass(frozen=True)
class Row:
    """A number of the run, or of each flow, in the order of the flows."""

    label: str
    unit: str
    values: list[str]
    definition: str


HEADLINES = (
    "goodput_bps", "utilisation_ratio", "jain_throughput", "rtt_ms.p50", "rtt_ms.p95",
    "quic_rtt_ms.p50", "quic_rtt_ms.p95", "retransmissions_count", "packet_owd_ms.p95",
    "lost_in_link_count", "sinr_db.mean", "mcs.mean",
)  # fmt: skip
"""The numbers that matter first, in their order; of these, a report begins with those it has."""
HEADLINES_COUNT = 5
_NOT_WITH_SEVERAL_FLOWS = ("rtt_ms.p50", "quic_rtt_ms.p50")


def headlines(summary: dict[str, Any]) -> list[Row]:
    """Return the first numbers of HEADLINES that were measured."""
    volume = completed(summary)
    rows = []
    if volume is not None:
        metric = summary_metric("completion_s")
        assert metric is not None
        rows.append(Row(f"{volume[0]} in", "s", [volume[1]], metric.definition))
    for name in HEADLINES:
        if name in _NOT_WITH_SEVERAL_FLOWS and len(summary["flows"]) > 1:
            continue
        bare, _, part = name.partition(".")
        metric = summary_metric(bare)
        assert metric is not None
        row = _row(metric, part, [summary])
        if row.values != [_UNKNOWN]:
            rows.append(row)
    return rows[:HEADLINES_COUNT]


def run_rows(summary: dict[str, Any]) -> list[Row]:
    """Return the numbers of the run that were measured."""
    return _known_rows([metric for metric in summary_metrics() if metric.of_run], [summary])


def flow_rows(flows: list[dict[str, Any]]) -> list[Row]:
    """Return the numbers that some flow has."""
    return _known_rows([metric for metric in summary_metrics() if metric.of_flow], flows)


def _known_rows(metrics: list[SummaryMetric], summaries: list[dict[str, Any]]) -> list[Row]:
    rows = (row for metric in metrics if metric.in_report for row in _rows(metric, summaries))
    return [row for row in rows if any(value != _UNKNOWN for value in row.values)]


def _rows(metric: SummaryMetric, summaries: list[dict[str, Any]]) -> Iterator[Row]:
    if {*metric.parts} != _GAUGE:
        yield from (_row(metric, part, summaries) for part in metric.parts or ("",))
        return
    spread = _spread(summaries[0].get(metric.name) or dict.fromkeys(_GAUGE), metric.units)
    mean = _row(metric, "mean", summaries)
    yield replace(mean, label=metric.title, definition=f"{metric.definition}; mean, {spread}")


def _row(metric: SummaryMetric, part: str, summaries: list[dict[str, Any]]) -> Row:
    """Return a number, or a part of one, of the run or of each flow; n/a where it is unknown or
    does not mean anything."""
    name, more = _PARTS.get(part, (part, ""))
    label = f"{metric.title}, {name}" if name else metric.title
    values = []
    for summary in summaries:
        value = summary.get(metric.name)
        if metric.means_something is not None and not metric.means_something(summary):
            value = None
        elif part:
            value = (value or {}).get(part)
        values.append(_number(value, metric.units))
    return Row(label, metric.units.shown, values, metric.definition + more)


_ACCOUNTS = {
    "mac_sdu_bytes": ("by the MAC", "B", "delivered in the first flow's direction"),
    "receiver_ip_bytes": ("by the receiver's capture", "B", "IP bytes to the receiver"),
    "mac_to_receiver_ratio": ("MAC over capture", "1", "1: every byte crossed the MAC"),
    "iperf3_receiver_bytes": ("by the traffic program's receiver", "B", "payload that it read"),
    "aligned_payload_bytes": ("by the aligned table", "B", "integral of the throughput"),
    "readable_until_iperf3_stopped_bytes": (
        "by the capture, until that program stopped", "B", "payload that could be read in order"),
    "readable_to_iperf3_ratio": ("capture over traffic program", "1", "1: both counted the same"),
}  # fmt: skip


def accounts(checks: dict[str, Any]) -> list[Row]:
    """Return a row for each cross-check: the bytes as each source counted them, and ratios."""
    rows = []
    for key, value in checks.items():
        label, unit, definition = _ACCOUNTS.get(key, (key.replace("_", " "), "", ""))
        digits = 4 if unit == "1" else 0
        rows.append(Row(label, unit, [_number(value, Unit(shown_digits=digits))], definition))
    return rows


def _number(value: float | None, unit: Unit) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value * unit.scale:,.{unit.shown_digits}f}".replace(",", "\u202f")


def _spread(values: dict[str, float | None], unit: Unit) -> str:
    if values["p5"] is None:
        return "not measured"
    return f"90 % between {_number(values['p5'], unit)} and {_number(values['p95'], unit)}"
