# SPDX-License-Identifier: Apache-2.0
"""The stop rule: a point needs no further repeats once its mean is precise enough."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ccu.campaigns.definition import StopRule
from ccu.host import programs
from ddu.console.problems import refusal

_PER_FLOW = "flow."
"""Prefix of the mean of a number over the data flows of a run."""
_MISSING = object()


def enough(rule: StopRule, values: Sequence[float]) -> bool:
    """Return whether Student's interval of the mean of `values` is as narrow as `rule` requires."""
    if len(values) < rule.min_repeats:
        return False
    from scipy import stats

    mean = fmean(values)
    quantile = float(stats.t.ppf(0.5 + rule.confidence / 2, len(values) - 1))
    half_width = quantile * stdev(values) / math.sqrt(len(values))
    return half_width <= rule.half_width_ratio * abs(mean)


def metric(run: Path, name: str) -> float | None:
    """Return a number of the run's summary.json, which `ddu analyze` writes if it is missing.

    `flow.…` is the mean over the data flows that have the number, as in reports. Return None if the
    run lacks that number or cannot be analysed. Raises RefusedError if the name is unknown.
    """
    file = run / "summary.json"
    if not file.exists() and not _analyze(run):
        return None
    summary: dict[str, Any] = json.loads(file.read_text())
    of_flow = name.startswith(_PER_FLOW)
    path = name.removeprefix(_PER_FLOW).split(".")
    entries = [_entry(each, path) for each in (summary.get("flows", []) if of_flow else [summary])]
    if all(entry is _MISSING for entry in entries):
        raise refusal(f"summary.json has no {name!r}", "see docs/metrics.md", key="stop.metric")
    values = [float(entry) for entry in entries if entry not in (None, _MISSING)]
    return fmean(values) if values else None


def _entry(summary: Any, path: Sequence[str]) -> Any:
    """Return the entry at the path; _MISSING if there is none."""
    for part in path:
        if not isinstance(summary, dict) or part not in summary:
            return _MISSING
        summary = summary[part]
    return summary


def _analyze(run: Path) -> bool:
    """Return whether ddu could; the campaign's report says why not."""
    command = [programs.require("ddu"), "analyze", str(run)]
    return subprocess.run(command, capture_output=True).returncode == 0
