# SPDX-License-Identifier: Apache-2.0
"""summary.json: verdict, numbers of the run and of its flows, checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ddu.align.bins import Bins
from ddu.align.run import AlignedRun
from ddu.checks import cross_checks, verdict
from ddu.flows.observe import ObservedFlow
from ddu.metrics.catalogue import summary_metrics
from ddu.metrics.declared.radio import technologies
from ddu.metrics.metric import SummaryMetric, Value
from ddu.metrics.mobility import mobility
from ddu.metrics.views import FlowView, RunView
from ddu.one_sided import arrivals_source, unseen
from ddu.tables.results import SCHEMA_VERSION


def summarise(
    run: AlignedRun,
    flows: Sequence[ObservedFlow],
    aligned: pd.DataFrame,
    mac: pd.DataFrame | None,
    handovers: pd.DataFrame | None,
    bins: Bins,
) -> dict[str, Any]:
    """Return the content of summary.json (docs/metrics.md); null where it was not measured."""
    experiment = run.manifest.experiment
    view = RunView(run, flows, mac)
    checks = cross_checks(run, flows, aligned, bins.width_s)
    grade, reasons = verdict(run, checks)
    shares = technologies(view)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": run.manifest.run,
        "verdict": grade,
        "verdict_reasons": reasons,
        "not_captured": unseen(run, flows),
        "cc": experiment.cc or ",".join(dict.fromkeys(flow.flow.cc for flow in flows)),
        "direction": experiment.direction,
        "prb": experiment.prb,
        "scenario": experiment.scenario,
        **({"place": experiment.phone.place} if experiment.phone else {}),
        **({"clock": "virtual"} if run.manifest.time.clock == "virtual" else {}),
        **_changes(run, bins),
        "bin_ms": bins.width_ns / 1e6,
        **_written((each, each.of_run(view)) for each in summary_metrics() if each.of_run),
        **({} if shares is None else {"technology_ratio": shares}),
        **({} if handovers is None else {"mobility": mobility(run.radio_events, handovers)}),
        "flows": [_flow(FlowView(run, flow, rows)) for flow, rows in _with_rows(flows, aligned)],
        "cross_checks": checks,
        **({} if run.events is None else {"events_count": _events(run.events)}),
        "alignment": run.alignment,
        "software": run.manifest.software,
    }


def _changes(run: AlignedRun, bins: Bins) -> dict[str, Any]:
    """Return the key `changes`: what changed during the run, on the time axis of the tables;
    no key if nothing did."""
    changes = [
        {"t_s": (one.utc_ns - bins.start_utc_ns) / 1e9, "at_s": one.at_s, "change": str(one)}
        for one in run.manifest.changes
    ]
    return {"changes": changes} if changes else {}


def _with_rows(
    flows: Sequence[ObservedFlow], aligned: pd.DataFrame
) -> list[tuple[ObservedFlow, pd.DataFrame]]:
    count = len(aligned) // len(flows)  # Every flow has a row for every bin, in this order.
    return [
        (flow, aligned.iloc[index * count : (index + 1) * count])
        for index, flow in enumerate(flows)
    ]


def _flow(view: FlowView) -> dict[str, Any]:
    flow = view.flow
    return {
        "id": flow.flow.id,
        "cc": flow.flow.cc_read_back or flow.flow.cc,
        "direction": flow.flow.direction,
        "arrivals_source": arrivals_source(flow),
        **_written(
            (each, each.of_flow(view) if each.is_known_of(flow) else each.null)
            for each in summary_metrics()
            if each.of_flow
        ),
    }


def _written(values: Iterable[tuple[SummaryMetric, Value]]) -> dict[str, Value]:
    """Return the values that summary.json has, by the names of their metrics."""
    return {
        metric.name: value
        for metric, value in values
        if value != metric.null or not metric.if_known
    }


def _events(events: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(count) for name, count in events["event"].value_counts().items()}
