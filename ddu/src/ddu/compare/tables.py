# SPDX-License-Identifier: Apache-2.0
"""The comparison as tables: each run, each group of repeats, each pair of groups.

Repeats are independent: Student's interval over their means. A group of one run has the interval
of its own series, by the stationary bootstrap (ddu.statistics), for the metrics that are means
over time or packets; the rest has none. The series is weighted as the metric is (docs/metrics.md),
so that mean and interval are about the same number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ddu import statistics
from ddu.campaign.metrics import names, value
from ddu.compare.load import Compared, names_of
from ddu.console.problems import Problem, RefusedError, Where
from ddu.console.suggestions import near, unknown
from ddu.metrics.catalogue import numbers
from ddu.schema.arrays import Float, floats_of
from ddu.statistics import Interval

METRICS = (
    "throughput_bps", "goodput_bps", "rtt_ms.mean", "rtt_ms.p95", "utilisation_ratio",
    "retransmissions_count", "jain_throughput",
)  # fmt: skip
_OF_QUIC = ("quic_rtt_ms.mean", "quic_rtt_ms.p95")
_BATCH_S = 0.1
_DURATIONS_DIFFER = 0.05
"""The largest share by which the traffic times of repeats differ without a word."""


def usual_metrics(runs: Sequence[Compared]) -> tuple[str, ...]:
    """Return the metrics of a comparison that names none: with QUIC's RTT if some run has it."""
    of_quic = (name for name in _OF_QUIC if any(value(run.summary, name) for run in runs))
    return (*METRICS, *of_quic)


def runs_table(runs: Sequence[Compared], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per run: label, verdict, metrics, and the interval of those that are
    series."""
    rows = []
    for run, name in zip(runs, names_of(runs), strict=True):
        row: dict[str, object] = {
            "run": name, "group": run.label, "verdict": run.summary["verdict"],
        }  # fmt: skip
        for metric in metrics:
            row[metric] = value(run.summary, metric)
            if metric in _SERIES:
                interval = of_series(run, metric)
                row |= {f"{metric}.low": interval.low, f"{metric}.high": interval.high}
        rows.append(row)
    return pd.DataFrame(rows)


def refuse_unknown(runs: Sequence[Compared], metrics: Sequence[str]) -> None:
    """Raises RefusedError for a metric that no run has."""
    there = {name for run in runs for name in names(run.summary)}
    key = Where(key="--metric")
    missing = [name for name in metrics if name not in there]
    if missing:
        raise RefusedError(_unknown(name, there, key) for name in missing)


def _unknown(name: str, there: set[str], key: Where) -> Problem:
    """Return the problem with the names near it; else with those that most people want. A metric
    that other runs have is none that is misspelt."""
    if name in numbers():
        fix = "compare runs that have it, or leave it out (docs/metrics.md says which do)"
        return Problem(f"no run here has {name}", fix, key)
    if near(name, there):
        return unknown("metric", name, there, "docs/metrics.md", key)
    usual = ", ".join(metric for metric in METRICS if metric in there)
    return Problem(f"no metric {name!r}", f"there are {usual} and others (docs/metrics.md)", key)


def groups_table(runs: Sequence[Compared], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per group and metric: mean, interval, number of runs that have it, method."""
    rows = []
    for label, group in grouped(runs).items():
        for metric in metrics:
            interval = of_group(group, metric)
            if interval is not None:
                rows.append(
                    {"group": label, "metric": metric, "mean": interval.mean, "low": interval.low,
                     "high": interval.high, "runs": interval.count, "method": interval.method}
                )  # fmt: skip
    return pd.DataFrame(rows)


def means_text(runs: Sequence[Compared], metrics: Sequence[str]) -> str:
    """Return the means for a terminal: a line per metric, a column per group with its number of
    runs."""
    table = groups_table(runs, metrics)
    if table.empty:
        if not any(run.is_result for run in runs):
            return "no run has a result"
        return f"no run with a result has a number for {', '.join(metrics)}"
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
    """The runs with a result, by label, in the order of their first; of those that are one
    observation, the first."""
    groups: dict[str, list[Compared]] = {}
    for run in runs:
        if run.is_result and run.repeats is None:
            groups.setdefault(run.label, []).append(run)
    return groups


def mixtures(runs: Sequence[Compared]) -> list[str]:
    """Return a sentence for each group whose runs differ in more than chance."""
    return [
        f"The runs of {label} differ in {key} ({', '.join(values)}): they are not repeats, and "
        "their interval is that of the mixture."
        for label, group in grouped(runs).items()
        for key, values in _mixed(group)
    ]


def _mixed(group: Sequence[Compared]) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys of summary.json in which runs of one group differ, and the values."""
    for key in ("cc", "scenario", "prb", "direction"):
        values = sorted({str(run.summary.get(key)) for run in group})
        if len(values) > 1:
            yield key, values
    if any(_has_volume(run) for run in group):  # The time that it takes is a result.
        return
    durations = sorted(each for run in group if (each := run.summary.get("duration_s")) is not None)
    if durations and durations[0] < (1 - _DURATIONS_DIFFER) * durations[-1]:
        yield "duration_s", list(dict.fromkeys(f"{each:.4g}" for each in durations))


def _has_volume(run: Compared) -> bool:
    flows: Sequence[Mapping[str, Any]] = run.summary.get("flows") or ()
    of_run = run.settings.get("traffic.volume_bytes")
    return bool(of_run) or any(flow.get("volume_bytes") for flow in flows)


def alone(runs: Sequence[Compared]) -> list[str]:
    """Return a sentence about the groups that have one run, if there are some."""
    single = [label for label, group in grouped(runs).items() if len(group) == 1]
    if not single:
        return []
    return [
        f"n = 1 ({', '.join(single)}): one run each. Such an interval says how precisely the mean "
        "of this run is known, and nothing about another seed, place or day. For that, repeat the "
        "run with other seeds (`ccu run --seed 2 …`, or a campaign)."
    ]


def values_of(group: Sequence[Compared], metric: str) -> list[float]:
    """Return the metric of each run that has it."""
    values = [value(run.summary, metric) for run in group]
    return [each for each in values if each is not None]


def of_group(group: Sequence[Compared], metric: str) -> Interval | None:
    """Return the group's mean and interval; None if no run has the metric."""
    values = values_of(group, metric)
    if not values:
        return None
    if len(values) == 1 and metric in _SERIES and len(group) == 1:
        return replace(of_series(group[0], metric), count=1)
    return statistics.of_repeats(values)


def of_series(run: Compared, metric: str) -> Interval:
    """Return the run's number, of a metric that is a series, with the interval of that series.

    RTT samples that return after the traffic time are in the number, but in no bin: the interval is
    moved by what they change.
    """
    number = value(run.summary, metric)
    interval = statistics.of_series(*series_of(run, metric))
    if number is None or interval.low is None or interval.high is None:
        mean = float("nan") if number is None else number
        return Interval(mean, None, None, interval.count, interval.method)
    moved = number - interval.mean
    return Interval(
        number, interval.low + moved, interval.high + moved, interval.count, interval.method
    )


def series_of(run: Compared, metric: str) -> tuple[Float, Float]:
    """Return the metric in batches of 0.1 s (of one bin, if bins are longer), and how much each
    batch weighs in the run's number."""
    return _SERIES[metric](run)


def _rates(run: Compared) -> tuple[Float, Float]:
    """Return the rate of each batch, all flows together, and its seconds of the traffic time."""
    bin_s = run.summary["bin_ms"] / 1e3
    rates = floats_of(run.aligned, "tcp_throughput_bps")
    bits = _batched(run, np.nan_to_num(rates) * bin_s)
    batch_s = _bins_per_batch(run) * bin_s
    traffic_s = 0.0 if np.isnan(rates).all() else run.summary["duration_s"]
    seconds = (traffic_s - np.arange(len(bits)) * batch_s).clip(0, batch_s)
    return _divided(bits, seconds), seconds


def _rtts(run: Compared) -> tuple[Float, Float]:
    """Return the mean RTT of each batch, and its number of RTT samples."""
    samples = np.nan_to_num(floats_of(run.aligned, "tcp_rtt_count"))
    counts = _batched(run, samples)
    sums = _batched(run, samples * np.nan_to_num(floats_of(run.aligned, "tcp_rtt_ms")))
    return _divided(sums, counts), counts


_SERIES: dict[str, Callable[[Compared], tuple[Float, Float]]] = {
    "throughput_bps": _rates, "rtt_ms.mean": _rtts,
}  # fmt: skip
"""Metrics that are means over a run: their series, and how much each value of it weighs."""


def _batched(run: Compared, values: Float) -> Float:
    """Return the sum over each batch, and over the flows."""
    bins = np.rint(floats_of(run.aligned, "t_s") * 1e3 / run.summary["bin_ms"]).astype(np.int64)
    return np.bincount(bins // _bins_per_batch(run), values).astype(np.float64)


def _bins_per_batch(run: Compared) -> int:
    bin_ms: float = run.summary["bin_ms"]
    return max(round(_BATCH_S * 1e3 / bin_ms), 1)


def _divided(above: Float, below: Float) -> Float:
    quotients: Float = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return quotients


def _pair(
    first: Sequence[Compared], second: Sequence[Compared], metric: str
) -> dict[str, object] | None:
    a, b = values_of(first, metric), values_of(second, metric)
    if not a or not b:
        return None
    one, other = of_group(first, metric), of_group(second, metric)
    assert one is not None
    assert other is not None
    single = "one run each" if len(a) == len(b) else "one run in one of the groups"
    row: dict[str, object] = {
        "difference": other.mean - one.mean,
        "ratio": other.mean / one.mean if one.mean else None,
        "low": None, "high": None, "hedges_g": None, "cliffs_delta": None,
        "runs_a": len(a), "runs_b": len(b), "method": f"{single}, no interval",
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
    vary = not all(statistics.of_repeats(list(one)).alike for one in (a, b))
    effect = (b.mean() - a.mean()) / np.sqrt(pooled) * correction if vary else None
    larger = np.sign(b[:, None] - a[None, :]).mean()
    bounds = (float(welch.low), float(welch.high))
    known = not np.isnan(bounds).any()
    return {
        "low": bounds[0] if known else None, "high": bounds[1] if known else None,
        "hedges_g": None if effect is None else float(effect), "cliffs_delta": float(larger),
        "method": "Welch's t over repeats",
    }  # fmt: skip
