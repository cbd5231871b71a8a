# SPDX-License-Identifier: Apache-2.0
"""A campaign's tables: its runs, its points with intervals, comparisons, and the source's numbers.

Metrics are in the units of their names, as in summary.json.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddu import statistics
from ddu.campaign.load import CampaignDirectory
from ddu.campaign.metrics import flat
from ddu.campaign.plan import OF_BEST, Compare, Reference, ReportPlan
from ddu.statistics import Interval

NOT_ANALYSED = "not analysed"
"""The verdict of a run that ended, and of which the analysis made no numbers."""


def runs_table(campaign: CampaignDirectory, summaries: dict[Path, dict[str, Any]]) -> pd.DataFrame:
    """Return one row per cell: levels, seed, verdict, and every number of its summary."""
    rows = []
    for cell in campaign.cells:
        numbers = flat(summaries.get(cell.path, {})) if cell.path else {}
        verdict, reason = cell.verdict, cell.reason
        if cell.path in summaries:
            verdict = summaries[cell.path].get("verdict", verdict)
        elif cell.path:
            verdict, reason = NOT_ANALYSED, f"`ddu analyze {cell.path}` says why"
        rows.append(
            {
                **cell.levels,
                "seed": cell.seed,
                "verdict": verdict,
                "reason": reason,
                **({"place": cell.place} if cell.place else {}),
                "run": str(cell.path.relative_to(campaign.path)) if cell.path else "",
                **{name: number for name, number in numbers.items() if name not in cell.levels},
            }
        )
    return of_best(pd.DataFrame(rows), list(campaign.definition.factors))


def of_best(runs: pd.DataFrame, factors: list[str]) -> pd.DataFrame:
    """Return the runs with their throughput as a share of that of the best point in the same place:
    the point whose mean over its usable runs there is highest. Null where no place is known."""
    if "place" not in runs:
        return runs
    with_shares = runs.copy()
    there = usable(runs)
    for metric, share in OF_BEST.items():
        if metric in there:
            means = there.groupby(["place", *factors])[metric].mean()
            best = means.groupby("place").max()
            with_shares[share] = (there[metric] / there["place"].map(best)).reindex(runs.index)
    return with_shares


def usable(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose numbers describe the network, not the machine."""
    return runs[runs["verdict"].isin(("valid", "degraded"))]


PRECISE = 0.05
"""Half-width of an interval, as a share of the mean, for which a table says how many repeats it
needs."""


def points_table(runs: pd.DataFrame, factors: list[str], plan: ReportPlan) -> pd.DataFrame:
    """Return one row per point: verdicts, mean and interval of each metric, and how many repeats
    would make all of the intervals precise."""
    rows = []
    for levels, group in runs.groupby(factors, sort=False):
        row: dict[str, Any] = dict(zip(factors, levels, strict=True))
        row["runs"] = len(usable(group))
        for verdict in ("valid", "degraded"):
            row[verdict] = int((group["verdict"] == verdict).sum())
        row["without_result"] = len(group) - row["runs"]
        needed = []
        for metric in plan.metrics:
            values = _values(usable(group), metric)
            row |= _columns(metric, values)
            needed.append(statistics.repeats_for(values, PRECISE))
        row["repeats_needed"] = max((one for one in needed if one is not None), default=None)
        rows.append(row)
    return pd.DataFrame(rows)


def _columns(metric: str, values: list[float]) -> dict[str, Any]:
    if not values:
        return {metric: None, f"{metric}.low": None, f"{metric}.high": None}
    mean = statistics.of_repeats(values)
    return {metric: mean.mean, f"{metric}.low": mean.low, f"{metric}.high": mean.high}


def _values(runs: pd.DataFrame, metric: str) -> list[float]:
    if metric not in runs:
        return []
    return [float(value) for value in runs[metric] if not pd.isna(value)]


def comparisons_table(runs: pd.DataFrame, factors: list[str], plan: ReportPlan) -> pd.DataFrame:
    """Return each level against its baseline, seed by seed, all else equal; p-values by Holm."""
    rows = [row for one in plan.compare for row in _compared(usable(runs), factors, one)]
    table = pd.DataFrame(rows)
    if not table.empty:
        tested = table["p"].notna()
        table["p_holm"] = np.nan
        table.loc[tested, "p_holm"] = statistics.holm(list(table.loc[tested, "p"]))
    return table


def _compared(runs: pd.DataFrame, factors: list[str], asked: Compare) -> list[dict[str, Any]]:
    others = [name for name in factors if name != asked.factor]
    groups = runs.groupby(others, sort=False) if others else [((), runs)]
    rows = []
    for levels, group in groups:
        base = group[group[asked.factor] == asked.baseline].set_index("seed")
        for label in dict.fromkeys(group[asked.factor]):
            if label == asked.baseline:
                continue
            against = group[group[asked.factor] == label].set_index("seed")
            for metric in asked.metrics:
                both = _paired(base, against, metric)
                if both is None:
                    continue
                pairing = statistics.paired(*both)
                rows.append(
                    {
                        **dict(zip(others, levels, strict=True)),
                        "compared": f"{label} against {asked.baseline}",
                        "metric": metric,
                        "baseline_mean": float(np.mean(both[0])),
                        "difference": pairing.difference.mean,
                        "low": pairing.difference.low,
                        "high": pairing.difference.high,
                        "pairs": pairing.difference.count,
                        "cohen_dz": pairing.effect,
                        "p": pairing.p,
                    }
                )
    return rows


def _paired(
    base: pd.DataFrame, against: pd.DataFrame, metric: str
) -> tuple[list[float], list[float]] | None:
    if metric not in base or metric not in against:
        return None
    both = pd.concat([base[metric], against[metric]], axis=1, join="inner").dropna()
    if both.empty:
        return None
    return list(both.iloc[:, 0].astype(float)), list(both.iloc[:, 1].astype(float))


def reference_table(runs: pd.DataFrame, plan: ReportPlan) -> pd.DataFrame:
    """Return the numbers of the source, ours and the difference."""
    rows = [_beside(usable(runs), one) for one in plan.reference]
    return pd.DataFrame(rows)


def _beside(runs: pd.DataFrame, theirs: Reference) -> dict[str, Any]:
    above = _by_seed(runs, theirs.where, theirs.metric)
    below = None
    if theirs.relative_to is not None:
        below = _by_seed(runs, theirs.relative_to, theirs.metric)
    ours, count = _mean_or_ratio(above, below)
    named = ", ".join(f"{factor}={label}" for factor, label in theirs.where.items())
    if theirs.relative_to:
        named += " over " + ", ".join(f"{k}={v}" for k, v in theirs.relative_to.items())
    row: dict[str, Any] = {
        "what": named,
        "metric": theirs.metric,
        "is_ratio": theirs.relative_to is not None,
        "theirs": theirs.value,
        "ours": None,
        "low": None,
        "high": None,
        "runs": count,
        "difference_ratio": None,
        "source": theirs.source,
    }
    if ours is not None:
        row |= {"ours": ours.mean, "low": ours.low, "high": ours.high}
        if theirs.value:
            row["difference_ratio"] = ours.mean / theirs.value - 1
    return row


def _mean_or_ratio(
    above: pd.Series[float], below: pd.Series[float] | None
) -> tuple[Interval | None, int]:
    """Return the mean over seeds, or the ratio of the means over the same seeds, and how many."""
    if below is None:
        values = list(above.astype(float))
        return (statistics.of_repeats(values) if values else None), len(values)
    both = pd.concat([above, below], axis=1, join="inner").astype(float)
    if both.empty:
        return None, 0
    return statistics.ratio(list(both.iloc[:, 0]), list(both.iloc[:, 1])), len(both)


def _by_seed(runs: pd.DataFrame, where: dict[str, str], metric: str) -> pd.Series[float]:
    """Return the metric per seed, averaged over the points that `where` does not fix."""
    chosen = runs
    for factor, label in where.items():
        chosen = chosen[chosen[factor] == label] if factor in chosen else chosen.iloc[0:0]
    if metric not in chosen or chosen.empty:
        return pd.Series(dtype=float)
    means: pd.Series[float] = chosen.groupby("seed")[metric].mean().dropna()
    return means
