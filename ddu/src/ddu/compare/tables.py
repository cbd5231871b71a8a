# SPDX-License-Identifier: Apache-2.0
"""The comparison as tables: each run, each group of repeats, each pair of groups.

Repeats are independent: Student's interval over their means. A group of one run has the interval
of its own series, by the stationary bootstrap (ddu.statistics), for the metrics that are means
over time; the rest has none.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu import statistics
from ddu.campaign.metrics import names, value
from ddu.compare.load import Compared
from ddu.statistics import Interval
from testbed_console.problems import RefusedError, Where
from testbed_console.suggestions import unknown

METRICS = (
    "throughput_bps", "goodput_bps", "rtt_ms.mean", "rtt_ms.p95", "utilisation_ratio",
    "retransmissions_count", "jain_throughput",
)  # fmt: skip
_SERIES = {"throughput_bps": "tcp_throughput_bps", "rtt_ms.mean": "tcp_rtt_ms"}
"""Metrics that are means over the bins of a run."""
_SERIES_BIN_S = 0.1


def runs_table(runs: Sequence[Compared], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per run: label, verdict, metrics, and the interval of those that are
    series."""
    rows = []
    for run in runs:
        row: dict[str, object] = {
            "run": run.path.resolve().name, "group": run.label, "verdict": run.summary["verdict"],
        }  # fmt: skip
        for metric in metrics:
            row[metric] = value(run.summary, metric)
            if metric in _SERIES:
                found = of_series(run, metric)
                row |= {f"{metric}.low": found.low, f"{metric}.high": found.high}
        rows.append(row)
    return pd.DataFrame(rows)


def refuse_unknown(runs: Sequence[Compared], metrics: Sequence[str]) -> None:
    """Raises RefusedError for a metric that no run has."""
    there = {name for run in runs for name in names(run.summary)}
    key = Where(key="--metric")
    missing = [name for name in metrics if name not in there]
    if missing:
        raise RefusedError(
            unknown("metric", name, there, "docs/metrics.md", key) for name in missing
        )


def groups_table(runs: Sequence[Compared], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per group and metric: mean, interval, number of runs that have it, method."""
    rows = []
    for label, group in grouped(runs).items():
        for metric in metrics:
            found = of_group(group, metric)
            if found is not None:
                rows.append(
                    {"group": label, "metric": metric, "mean": found.mean, "low": found.low,
                     "high": found.high, "runs": found.count, "method": found.method}
                )  # fmt: skip
    return pd.DataFrame(rows)


def means_text(runs: Sequence[Compared], metrics: Sequence[str]) -> str:
    """Return the means for a terminal: a line per metric, a column per group with its number of
    runs."""
    table = groups_table(runs, metrics)
    if table.empty:
        return "no run has a result"
    titles = {label: f"{label} (n={len(group)})" for label, group in grouped(runs).items()}
    table["group"] = table["group"].map(titles)
    groups = table["group"].unique()
    means = table.pivot(index="metric", columns="group", values="mean")
    means = means.dropna(how="all")[list(groups)]
    means = means.loc[[metric for metric in metrics if metric in means.index]]
    axes = means.rename_axis(index=None, columns=None)
    return axes.to_string(float_format=lambda value: f"{value:.4g}", na_rep="")


def pairs_table(runs: Sequence[Compared], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per two groups and metric: difference (b minus a), interval, effect sizes.

    `hedges_g` is the difference of means over the pooled standard deviation of repeats, corrected
    for few of them; `cliffs_delta` the share of pairs of repeats in which b is larger, minus the
    share in which a is. Both need two repeats of each.
    """
    rows = []
    for (a, first), (b, second) in itertools.combinations(grouped(runs).items(), 2):
        for metric in metrics:
            row = _pair(first, second, metric)
            if row is not None:
                rows.append({"a": a, "b": b, "metric": metric} | row)
    return pd.DataFrame(rows)


def grouped(runs: Sequence[Compared]) -> dict[str, list[Compared]]:
    """The runs with a result, by label, in the order of their first."""
    groups: dict[str, list[Compared]] = {}
    for run in runs:
        if run.is_result:
            groups.setdefault(run.label, []).append(run)
    return groups


def mixtures(runs: Sequence[Compared]) -> list[str]:
    """Return a sentence for each group whose runs differ in more than chance."""
    found_mixed = []
    for label, group in grouped(runs).items():
        for key in ("cc", "scenario", "prb", "direction", "duration_s"):
            found = [run.summary.get(key) for run in group]
            if key == "duration_s":
                found = [round(float(each), -1) if each else each for each in found]
            values = sorted({str(each) for each in found})
            if len(values) > 1:
                found_mixed.append(
                    f"The runs of {label} differ in {key} ({', '.join(values)}): they are not "
                    "repeats, and their interval is that of the mixture."
                )
    return found_mixed


def values_of(group: Sequence[Compared], metric: str) -> list[float]:
    """Return the metric of each run that has it."""
    found = [value(run.summary, metric) for run in group]
    return [each for each in found if each is not None]


def of_group(group: Sequence[Compared], metric: str) -> Interval | None:
    """Return the group's mean and interval; None if no run has the metric."""
    values = values_of(group, metric)
    if not values:
        return None
    if len(values) == 1 and metric in _SERIES and len(group) == 1:
        found = of_series(group[0], metric)
        return Interval(values[0], found.low, found.high, 1, found.method)
    return statistics.of_repeats(values)


def of_series(run: Compared, metric: str) -> Interval:
    """Return the mean of the run's series in bins of 0.1 s, flows summed (throughput) or averaged
    (RTT)."""
    column = _SERIES[metric]
    table = run.aligned[["t_s", column]].astype("float64")
    per_bin = table.groupby("t_s")[column]
    joined = per_bin.sum(min_count=1) if column.endswith("_bps") else per_bin.mean()
    at = np.floor(joined.index.to_numpy() / _SERIES_BIN_S)
    means = joined.groupby(at).mean().to_numpy()
    return statistics.of_series(means[~np.isnan(means)])


def _pair(
    first: Sequence[Compared], second: Sequence[Compared], metric: str
) -> dict[str, object] | None:
    a, b = values_of(first, metric), values_of(second, metric)
    if not a or not b:
        return None
    one, other = of_group(first, metric), of_group(second, metric)
    assert one is not None
    assert other is not None
    row: dict[str, object] = {
        "difference": other.mean - one.mean,
        "ratio": other.mean / one.mean if one.mean else None,
        "low": None, "high": None, "hedges_g": None, "cliffs_delta": None,
        "runs_a": len(a), "runs_b": len(b), "method": "one run each, no interval",
    }  # fmt: skip
    if len(a) > 1 and len(b) > 1:
        return row | _of_repeats(np.array(a), np.array(b))
    if None not in (one.low, one.high, other.low, other.high):
        reach = np.hypot(_half(one), _half(other))
        difference = other.mean - one.mean
        row |= {
            "low": difference - reach, "high": difference + reach,
            "method": "root of the sum of the squared half widths",
        }  # fmt: skip
    return row


def _half(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return (interval.high - interval.low) / 2


def _of_repeats(a: np.ndarray, b: np.ndarray) -> dict[str, object]:
    from scipy import stats

    welch = stats.ttest_ind(b, a, equal_var=False).confidence_interval(statistics.CONFIDENCE)
    degrees = len(a) + len(b) - 2
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / degrees
    correction = 1 - 3 / (4 * degrees - 1)
    # The variance of equal numbers may be a rounding error.
    random = not all(statistics.of_repeats(list(one)).alike for one in (a, b))
    effect = (b.mean() - a.mean()) / np.sqrt(pooled) * correction if random else None
    larger = np.sign(b[:, None] - a[None, :]).mean()
    bounds = (float(welch.low), float(welch.high))
    known = not np.isnan(bounds).any()
    return {
        "low": bounds[0] if known else None, "high": bounds[1] if known else None,
        "hedges_g": None if effect is None else float(effect), "cliffs_delta": float(larger),
        "method": "Welch's t over repeats",
    }  # fmt: skip
