# SPDX-License-Identifier: Apache-2.0
"""The figures of a comparison: all runs over time, throughput against delay, distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ddu.campaign.metrics import shown
from ddu.compare.load import Compared, direction_of
from ddu.compare.tables import grouped, of_group, values_of
from ddu.report.ellipse import ellipse
from ddu.report.figure import Figure, Plot, Series, under_each_other
from ddu.report.figures import known_values, panels
from ddu.report.palette import colours_of
from ddu.report.series import distribution
from ddu.report.wider_bins import DRAWN_MS, bin_of
from ddu.schema.arrays import Float
from ddu.schema.columns import Column, Panel

_SERIES_S = 1.0


def figures(runs: Sequence[Compared]) -> dict[str, Figure]:
    """Return the figures that there is data for, by name."""
    made = {name: draw(runs) for name, draw in _FIGURES.items()}
    return {name: figure for name, figure in made.items() if any(p.series for p in figure.plots)}


def over_time(runs: Sequence[Compared]) -> Figure:
    """Return the columns with a panel, a line for each group: the mean over its runs and flows, of
    rates the sum over flows."""
    groups = grouped(runs)
    results = [run for group in groups.values() for run in group]
    shown_panels: dict[str, tuple[Column, Panel]] = {}
    for run in results:
        shown_panels |= {
            each[0].name: each for each in panels(run.aligned, direction_of(run.summary))
        }
    chosen = [
        (known, panel)
        for known, panel in sorted(shown_panels.values(), key=lambda each: each[1].position)
        if panel.in_wider_bins != "last" and (panel.per_flow or known.name.startswith("mac_"))
    ]
    colours = colours_of(list(groups))
    width_ms = max([DRAWN_MS, *(float(run.summary["bin_ms"]) for run in results)])
    plots = []
    for index, (known, panel) in enumerate(chosen):
        lines = [
            Series(*_mean_over_time(group, known, panel, width_ms), colours[label],
                   _counted(label, group), in_legend=index == 0)
            for label, group in groups.items()
        ]  # fmt: skip
        unit = f"({known.units.shown})" if known.units.shown else ""
        plots.append(Plot(lines, title=known.title, note=f"{unit} · {known.definition}",
                          y_from_zero=known.units.shown != "dBm"))  # fmt: skip
    return under_each_other(plots, 130)


def _mean_over_time(
    group: Sequence[Compared], column: Column, panel: Panel, width_ms: float
) -> tuple[Float, Float]:
    """Return the time in s and the mean over the runs, in bins of this width."""
    lines = [
        _over_time(run, column, panel, width_ms / 1e3)
        for run in group
        if column.name in run.aligned
    ]
    longest = max((len(values) for values in lines), default=0)
    if longest == 0:
        return np.zeros(0), np.zeros(0)
    padded = [np.pad(one, (0, longest - len(one)), constant_values=np.nan) for one in lines]
    values = np.array(padded)
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)
    time_s = np.arange(longest, dtype=np.float64) * (width_ms / 1e3)
    return time_s, np.asarray(mean * column.units.scale, dtype=np.float64)


def _over_time(run: Compared, known: Column, panel: Panel, width_s: float) -> Float:
    """Return the column over all flows of a run, a value for each bin of this width."""
    rows, name = run.aligned, known.name
    at = bin_of(rows["t_s"], width_s).astype("int64")
    values = rows[name].astype("float64")
    if panel.in_wider_bins == "sum":
        line = values.groupby(at).sum(min_count=1)
    elif panel.total:
        line = values.groupby(rows["t_s"]).sum(min_count=1)
        line = line.groupby(bin_of(line.index, width_s).astype("int64")).mean()
    elif panel.weight in rows:
        weights = rows[panel.weight].astype("float64").where(values.notna())
        weighed = (values * weights).groupby(at).sum(min_count=1)
        line = weighed / weights.groupby(at).sum(min_count=1)
    else:
        line = values.groupby(at).mean()
    return np.asarray(line.reindex(range(int(at.max()) + 1)), dtype=np.float64)


def _counted(label: str, group: Sequence[Compared]) -> str:
    return f"{label} (n = {len(group)})"


def plane(runs: Sequence[Compared]) -> Figure:
    """Return throughput against mean RTT: up and left is better.

    A small dot a run; a large one a group's mean with its intervals; an ellipse one standard
    deviation, of the repeats, or, of a single run, of its seconds.
    """
    groups = grouped(runs)
    colours = colours_of(list(groups))
    series: list[Series] = []
    for label, group in groups.items():
        x, y = values_of(group, "rtt_ms.mean"), values_of(group, "throughput_bps")
        if not x or len(x) != len(y):
            continue
        xs, ys, colour = np.array(x), np.array(y) * 1e-6, colours[label]
        points = (xs, ys) if len(xs) >= 3 else _seconds(group)
        centre = (float(xs.mean()), float(ys.mean()))
        series += ellipse(points[0], points[1], colour, centre)
        series.append(Series(xs, ys, colour, kind="dots", opacity=0.5))
        series += _mean(group, _counted(label, group), colour)
    return Figure([Plot(series, "mean RTT (ms)", "throughput (Mbit/s)")], 1, 340)


def cdf(column: str) -> Callable[[Sequence[Compared]], Figure]:
    """Return a function that plots the distribution of a column over all bins of each group."""

    def draw(runs: Sequence[Compared]) -> Figure:
        groups, how = grouped(runs), shown(column)
        colours = colours_of(list(groups))
        series = []
        for label, group in groups.items():
            values = np.concatenate([known_values(run.aligned, column) for run in group])
            if len(values):
                points = distribution(values * how.scale)
                name = _counted(label, group)
                series.append(Series(*points, colours[label], name, in_legend=True))
        return Figure([Plot(series, how.axis, "share of bins")], 1, 340)

    return draw


def _mean(group: Sequence[Compared], label: str, colour: str) -> list[Series]:
    x, y = of_group(group, "rtt_ms.mean"), of_group(group, "throughput_bps")
    if x is None or y is None:
        return []
    at = np.array([x.mean]), np.array([y.mean * 1e-6])
    half = np.maximum(x.reach, 0), np.maximum(y.reach * 1e-6, 0)  # NaN stays.
    return [Series(*at, colour, label, "mean", half_width=half, in_legend=True)]


def _seconds(group: Sequence[Compared]) -> tuple[Float, Float]:
    xs, ys = [], []
    for run in group:
        table = run.aligned.assign(second=np.floor(run.aligned["t_s"] / _SERIES_S))
        per_bin = table.groupby(["second", "t_s"])["tcp_throughput_bps"].sum()
        xs.append(table.groupby("second")["tcp_rtt_ms"].mean().astype("float64"))
        ys.append(per_bin.groupby("second").mean() * 1e-6)
    x, y = np.concatenate(xs), np.concatenate(ys)
    known = ~np.isnan(x) & ~np.isnan(y)
    return x[known], y[known]


_FIGURES: dict[str, Callable[[Sequence[Compared]], Figure]] = {
    "over-time": over_time,
    "throughput-delay": plane,
    "rtt-cdf": cdf("tcp_rtt_ms"),
    "throughput-cdf": cdf("tcp_throughput_bps"),
}
CAPTIONS = {
    "over-time": "All runs on one time axis: means over the runs of each group, in bins of "
    f"{DRAWN_MS:g} ms or, if wider, the runs' own; rates are the sum over the flows of a run",
    "throughput-delay": "Throughput against mean RTT. Small dots: runs; large dots: means with "
    "95 % intervals; ellipses: one standard deviation of the runs, or of a single run's seconds",
    "rtt-cdf": "Distribution of the RTT over all bins",
    "throughput-cdf": "Distribution of the throughput over all bins",
}
