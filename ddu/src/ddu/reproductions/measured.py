# SPDX-License-Identifier: Apache-2.0
"""What was measured of a campaign: the runs of its most complete profile, and numbers of them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from ddu.campaign.load import Campaign, load_campaign, summaries
from ddu.campaign.tables import runs_table, usable
from ddu.reproductions.claims import Check, Column, Labels

PROFILES = ("full", "paper-third", "quick")
"""The profiles that a page may show: the first that has a run of each point."""
_OF_LINK = ("scenario",)
"""Factors whose levels are other links: with the seed, they name one."""

Analyze = Callable[[list[Path]], None]


@dataclass(frozen=True)
class Cost:
    """What the runs took that a campaign has made, without those that others share with it."""

    runs_count: int = 0
    cpu_h: float = 0.0
    disk_bytes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.runs_count + other.runs_count,
            self.cpu_h + other.cpu_h,
            self.disk_bytes + other.disk_bytes,
        )


@dataclass(frozen=True)
class Measured:
    """The runs of one profile of a campaign."""

    campaign: Campaign
    runs: pd.DataFrame
    """A row for each run that may be used."""
    cost: Cost
    _of_columns: dict[tuple[str, Column], float] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        return str(self.campaign.definition["profile"])

    @property
    def shared_count(self) -> int:
        """Return how many of the results another campaign has made."""
        return len(self.campaign.results) - self.cost.runs_count

    @property
    def degraded_count(self) -> int:
        return int((self.runs["verdict"] == "degraded").sum())

    @property
    def is_finished(self) -> bool:
        """Return whether each point has the runs that the campaign asks for at least."""
        rules = self.campaign.definition.get("stop") or ()
        least = max((rule["min_repeats"] for rule in rules), default=math.inf)
        least = min(least, self.campaign.definition["repeats"])
        factors = list(self.factors)
        results = self.campaign.results
        counts = Counter(tuple(cell.levels[name] for name in factors) for cell in results)
        return all(counts[point] >= least for point in self.campaign.points)

    @property
    def factors(self) -> dict[str, list[str]]:
        """Return the levels by factor, as planned."""
        return {name: list(levels) for name, levels in self.campaign.definition["factors"].items()}

    def values(self, check: Check, where: Labels) -> pd.Series[float]:
        """Return the check's number at `where` by link and seed: the mean over other factors."""
        chosen = self.runs
        for factor, labels in where.items():
            chosen = chosen[chosen[factor].isin(labels)] if factor in chosen else chosen.iloc[:0]
        found = self._numbers(check, chosen)
        if found is None or found.empty:
            return pd.Series(dtype=float)
        keys = [chosen[name] for name in ("seed", *self.links(where))]
        means: pd.Series[float] = (found - check.less).groupby(keys).mean().dropna()
        return means

    def links(self, where: Mapping[str, object] = {}) -> list[str]:
        """Return the factors beside the seed that tell links apart, where they are not fixed."""
        return [name for name in _OF_LINK if name in self.factors and name not in where]

    def _numbers(self, check: Check, chosen: pd.DataFrame) -> pd.Series[float] | None:
        if check.metric is not None:
            return chosen[check.metric].astype(float) if check.metric in chosen else None
        wanted = check.column
        assert wanted is not None
        return chosen["run"].map(lambda run: self._of_column(str(run), wanted)).astype(float)

    def _of_column(self, run: str, wanted: Column) -> float:
        if (run, wanted) not in self._of_columns:
            self._of_columns[run, wanted] = _number(self.campaign.path / run, wanted)
        return self._of_columns[run, wanted]


def _number(run: Path, wanted: Column) -> float:
    """Return a number of the run's aligned table; NaN if table or column is not there."""
    file = run / "tables" / "aligned.parquet"
    if not file.exists() or wanted.name not in pq.read_schema(file).names:
        return float("nan")
    table = pq.read_table(file, columns=["t_s", "flow", wanted.name], use_threads=False).to_pandas()
    chosen = table["t_s"].between(wanted.from_s, wanted.to_s, inclusive="left")
    if wanted.flow is not None:
        chosen &= table["flow"] == wanted.flow
    values = table.loc[chosen, wanted.name].dropna().to_numpy(float)
    if not len(values):
        return float("nan")
    if wanted.take in ("mean", "max"):
        return float(getattr(np, wanted.take)(values))
    return float(np.percentile(values, float(wanted.take[1:])))


def measured(runs: Path, name: str, analyze: Analyze) -> Measured | None:
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
        return Measured(campaign, table, _cost(campaign))
    return None


def _is_covered(campaign: Campaign) -> bool:
    """Return whether each point of the design has a result."""
    factors = list(campaign.definition["factors"])
    there = {tuple(cell.levels[name] for name in factors) for cell in campaign.results}
    return there.issuperset(campaign.points)


def _cost(campaign: Campaign) -> Cost:
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
