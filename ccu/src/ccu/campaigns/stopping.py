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
from testbed_console.problems import refusal


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

    Return None if the run lacks that number or cannot be analysed. Raises RefusedError if the name
    is unknown.
    """
    summary = run / "summary.json"
    if not summary.exists() and not _analyze(run):
        return None
    value: Any = json.loads(summary.read_text())
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            raise refusal(f"summary.json has no {name!r}", "see docs/metrics.md", key="stop.metric")
        value = value[part]
    return None if value is None else float(value)


def _analyze(run: Path) -> bool:
    """Return whether ddu could; the campaign's report says why not."""
    command = [programs.require("ddu"), "analyze", str(run)]
    return subprocess.run(command, capture_output=True).returncode == 0
