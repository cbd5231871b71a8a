# SPDX-License-Identifier: Apache-2.0
"""Measures a campaign from its directory: numbers of its runs, and their cost."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from ddu.campaign.definition import Point
from ddu.campaign.load import CampaignDirectory, load_campaign, summaries
from ddu.campaign.plan import metrics_of
from ddu.campaign.tables import runs_table, usable
from ddu.reproductions.claims import Check, Column
from ddu.reproductions.measured import PROFILES, Cost, Measured
from ddu.tables.results import TableMissing, read_table

Analyze = Callable[[list[Path]], None]


def measured(runs: Path, name: str, checks: Iterable[Check], analyze: Analyze) -> Measured | None:
    """Return what was measured of the campaign `name` under `runs`, or None if no profile has a
    usable run of each point."""
    for profile in PROFILES:
        path = runs / f"campaign-{name}-{profile}"
        if not (path / "campaign.json").exists():
            continue
        campaign = load_campaign(path)
        if not _is_covered(campaign):
            continue
        table = usable(runs_table(campaign, summaries(campaign, analyze)))
        return _measured(campaign, table, list(checks))
    return None


def numbers_of(path: Path, checks: Iterable[Check], analyze: Analyze) -> pd.DataFrame:
    """Return the runs of the campaign in `path` with the numbers of its report and of `checks`, as
    its record has them."""
    campaign = load_campaign(path)
    table = usable(runs_table(campaign, summaries(campaign, analyze)))
    return _numbers(campaign, table, list(checks))


def _measured(campaign: CampaignDirectory, table: pd.DataFrame, checks: list[Check]) -> Measured:
    definition, software = campaign.definition, campaign.software
    cost = _cost(campaign)
    return Measured(
        profile=definition.profile,
        factors={name: list(levels) for name, levels in definition.factors.items()},
        planned_count=campaign.planned_count,
        shared_count=len(campaign.results) - cost.runs_count,
        is_finished=_is_finished(campaign),
        testbed=definition.base.get("testbed"),
        git_revision=software["git_revision"],
        git_modified=software.get("git_modified", False),
        cost=cost,
        runs=_numbers(campaign, table, checks),
    )


def _numbers(campaign: CampaignDirectory, table: pd.DataFrame, checks: list[Check]) -> pd.DataFrame:
    """Return the runs with the numbers of the report, of its figures and of the checks."""
    columns = {
        one.number: one.column
        for check in checks
        for one in (check, check.divisor)
        if one.column is not None
    }
    report = campaign.definition.report
    metrics = [
        *(report.metrics if "metrics" in report.model_fields_set else ()),
        *(name for figure in report.figures for name in metrics_of(figure)),
        *(check.metric for check in checks if check.metric is not None),
    ]
    about = [*campaign.definition.factors, "seed", "verdict", "run"]
    numbers = table[[*about, *(name for name in dict.fromkeys(metrics) if name in table)]].copy()
    for name, wanted in columns.items():
        numbers[name] = [number_of(campaign.path / run, wanted) for run in table["run"]]
    return numbers


def number_of(run: Path, wanted: Column) -> float:
    """Return a number of the run's aligned table; NaN if table or column is not there."""
    names = list(dict.fromkeys(("t_s", "flow", wanted.name)))
    try:
        table = read_table(run, "aligned", names)
    except TableMissing:
        return float("nan")
    if wanted.name not in table:
        return float("nan")
    chosen = table["t_s"].between(wanted.from_s, wanted.to_s, inclusive="left")
    if wanted.flow is not None:
        chosen &= table["flow"] == wanted.flow
    if wanted.beside is not None:
        other = table[(table["flow"] == wanted.beside) & table[wanted.name].notna()]
        chosen &= table["t_s"].isin(other["t_s"])
    values = table.loc[chosen, wanted.name].dropna().to_numpy(float)
    if not len(values):
        return float("nan")
    if wanted.take in ("mean", "std", "max"):
        return float(getattr(np, wanted.take)(values))
    return float(np.percentile(values, float(wanted.take[1:])))


def _counts(campaign: CampaignDirectory) -> Counter[Point]:
    """Return how many results each point has."""
    names = list(campaign.definition.factors)
    return Counter(tuple((one, cell.levels[one]) for one in names) for cell in campaign.results)


def _is_covered(campaign: CampaignDirectory) -> bool:
    """Return whether each point of the design has a result."""
    return _counts(campaign).keys() >= set(campaign.definition.points)


def _is_finished(campaign: CampaignDirectory) -> bool:
    definition = campaign.definition
    least = max((rule.min_repeats for rule in definition.stop), default=math.inf)
    least = min(least, definition.repeats)
    counts = _counts(campaign)
    return all(counts[point] >= least for point in definition.points)


def _cost(campaign: CampaignDirectory) -> Cost:
    total = Cost()
    for cell in campaign.results:
        assert cell.path is not None
        content = json.loads((cell.path / "run.json").read_text())
        if "shared_from" in content:
            continue
        cost = content.get("cost") or {}
        cpu_s = cost.get("cpu_s", 0.0) + cost.get("analysis_cpu_s", 0.0)
        size = sum(file.stat().st_size for file in cell.path.rglob("*") if file.is_file())
        total += Cost(1, cpu_s / 3600, size)
    return total
