# SPDX-License-Identifier: Apache-2.0
"""The stop rule: a point needs no further repeats once its mean is precise enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ccu.campaigns.analyst import Analyst
from ddu.campaign.definition import StopRule
from ddu.console.problems import refusal
from ddu.tables.results import is_analysed, read_summary


def enough(rule: StopRule, values: Sequence[float]) -> bool:
    """Return whether Student's interval of the mean of `values` is as narrow as `rule` requires."""
    if len(values) < rule.min_repeats:
        return False
    from ddu import statistics

    interval = statistics.of_repeats(values, rule.confidence)
    return interval.reach <= rule.half_width_ratio * abs(interval.mean)


def metric(run: Path, name: str) -> float | None:
    """Return a number of the run's summary.json, which an analysis writes if it is missing.

    `flow.…` is the mean over the data flows that have the number, as in reports. Return None if the
    run lacks that number or cannot be analysed. Raises RefusedError if the name is unknown.
    """
    from ddu.campaign.metrics import flat, names
    from ddu.metrics.catalogue import PER_FLOW, is_open, numbers

    if not is_analysed(run):
        with Analyst() as analyst:
            if analyst.analyze(run, report=True).problem:  # The campaign's report says why.
                return None
    summary = read_summary(run)
    per_flow = (f"{PER_FLOW}{one}" for flow in summary.get("flows", []) for one in names(flow))
    if name not in {*names(summary), *per_flow, *numbers()} and not is_open(name):
        raise refusal(f"summary.json has no {name!r}", "see docs/metrics.md", key="stop.metric")
    return flat(summary).get(name)
