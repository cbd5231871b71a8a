# SPDX-License-Identifier: Apache-2.0
"""The results of a run for terminals and scripts: `ccu run` and `ddu analyze` end with them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddu.report.largest import largest
from ddu.report.volume import completed

if TYPE_CHECKING:
    from ddu.metrics.metric import SummaryMetric

REPORT = "report.html"
_UNKNOWN = "n/a"
_DIRECTIONS = {"dl": "downlink", "ul": "uplink"}
_OF_FLOW = (
    "goodput_bps", "rtt_ms.p50", "rtt_ms.p95", "quic_rtt_ms.p50", "quic_rtt_ms.p95",
    "retransmissions_count",
)  # fmt: skip
"""The numbers of each flow; those that no flow has are left out."""
_LOST = "lost_in_link_count"
"""Beside them where a flow is not TCP: UDP, a sender program, QUIC. Of what these send again the
captures show nothing."""


def lines(path: Path, summary: Mapping[str, Any], made: str = REPORT) -> Iterator[str]:
    """Yield a table of the flows, the verdict, the run's directory, what to do next and, last, the
    path of the report.

    `made`: the file or folder of results to name last, in the run's directory `path`.
    """
    yield from _table(summary["flows"])
    yield headline(summary)
    for reason in [*summary["verdict_reasons"], *summary["not_captured"]]:
        yield f"  {reason}"
    yield f"run: {path}"
    yield f"next: {next_step(path)}"
    yield str(path / made)


def headline(summary: Mapping[str, Any]) -> str:
    """Return the verdict and the numbers of the whole run in one line."""
    return " · ".join([f"verdict: {summary['verdict']}", *_of_run(summary)])


def as_json(path: Path, summary: Mapping[str, Any], made: str = REPORT) -> str:
    """Return summary.json on one line, with `directory` and `report` (null if there is none)."""
    report = str(path / REPORT) if made == REPORT else None
    return json.dumps({"directory": str(path), "report": report, **summary}, ensure_ascii=False)


def next_step(path: Path) -> str:
    """Return the command that one usually wants after a run: to compare it with its neighbours."""
    parent = path.parent if path.name not in ("", "..") else path.resolve().parent
    folder = shlex.quote(str(parent))
    name = path.resolve().name
    others = (one for one in parent.glob("*/run.json") if one.parent.name != name)
    if any(others):
        return f"ddu compare {folder}"
    return f"ccu run with another --cc, then ddu compare {folder}"


def _of_run(summary: Mapping[str, Any]) -> Iterator[str]:
    used, fairness = summary.get("utilisation_ratio"), summary.get("jain_throughput")
    goodput = _shown("goodput_bps", summary.get("goodput_bps"))
    yield "goodput not captured" if goodput == _UNKNOWN else f"{goodput} goodput"
    if volume := completed(summary):
        yield f"{volume[0]} in {volume[1]} s"
    if used is not None:
        directions = dict.fromkeys(flow["direction"] for flow in summary["flows"])
        first = next(iter(directions), None)
        link = _DIRECTIONS[first] if first and len(directions) > 1 else "link"
        yield f"{used:.0%} of what the {link} could carry"
    if fairness is not None:
        yield f"Jain's index {fairness:.2f}"
    if summary.get("clock") == "virtual":
        yield "virtual time"


def _table(flows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    listed = largest(flows)
    only_tcp = all(_value(flow, "retransmissions_count") is not None for flow in listed)
    wanted = _OF_FLOW if only_tcp else [*_OF_FLOW, _LOST]
    names = [name for name in wanted if any(_value(flow, name) is not None for flow in listed)]
    rows = [["flow", "congestion control", "direction", *map(_title, names)]]
    for flow in listed:
        numbers = [_shown(name, _value(flow, name)) for name in names]
        rows.append([flow["id"], flow["cc"], _DIRECTIONS[flow["direction"]], *numbers])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
    if len(listed) < len(flows):
        yield f"… the {len(listed)} flows with most bytes, of {len(flows)}"


def _value(flow: Mapping[str, Any], name: str) -> float | None:
    bare, _, part = name.partition(".")
    value = flow.get(bare)
    return value.get(part) if isinstance(value, dict) else value


def _title(name: str) -> str:
    bare, _, part = name.partition(".")
    return f"{_metric(bare).title} {part}".rstrip()


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return _UNKNOWN
    unit = _metric(name).units
    return f"{value * unit.scale:,.{unit.shown_digits}f} {unit.shown}"


def _metric(name: str) -> SummaryMetric:
    # Its imports take a second, which `ccu run` has while its run goes on, and not before.
    from ddu.metrics.catalogue import summary_metric

    metric = summary_metric(name)
    assert metric is not None
    return metric
