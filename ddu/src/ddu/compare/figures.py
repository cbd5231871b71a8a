# SPDX-License-Identifier: Apache-2.0
"""The figures of a comparison: throughput against delay with ellipses, and distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ddu.campaign.metrics import shown
from ddu.compare.load import Compared
from ddu.compare.tables import grouped, of_group, values_of
from ddu.report import svg
from ddu.report.ellipse import ellipse
from ddu.report.figure import Figure, Plot, Series
from ddu.report.palette import colours_of
from ddu.report.series import distribution
from ddu.schema.arrays import Float

_SERIES_S = 1.0


def write_figures(directory: Path, runs: Sequence[Compared]) -> list[tuple[str, Path]]:
    """Draw the figures that there is data for; return captions and files."""
    directory.mkdir(parents=True)
    made = []
    for name, caption, draw in _FIGURES:
        plot = draw(runs)
        if plot.series:
            file = directory / f"{name}.svg"
            file.write_text(svg.rendered(Figure([plot], 1, 340)), encoding="utf-8")
            made.append((caption, file))
    return made


def plane(runs: Sequence[Compared]) -> Plot:
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
        series += _mean(group, label, colour)
    return Plot(series, "mean RTT (ms)", "throughput (Mbit/s)")


def cdf(column: str) -> Callable[[Sequence[Compared]], Plot]:
    """Return a function that plots the distribution of a column over all bins of each group."""

    def draw(runs: Sequence[Compared]) -> Plot:
        groups, how = grouped(runs), shown(column)
        colours = colours_of(list(groups))
        series = []
        for label, group in groups.items():
            values = np.concatenate([_column(run, column) for run in group])
            if len(values):
                points = distribution(values * how.scale)
                series.append(Series(*points, colours[label], label, in_legend=True))
        return Plot(series, how.axis, "share of bins")

    return draw


def _mean(group: Sequence[Compared], label: str, colour: str) -> list[Series]:
    x, y = of_group(group, "rtt_ms.mean"), of_group(group, "throughput_bps")
    if x is None or y is None:
        return []
    half = [np.nan if m.high is None else max(m.high - m.mean, 0) for m in (x, y)]
    at = np.array([x.mean]), np.array([y.mean * 1e-6])
    interval = (half[0], half[1] * 1e-6)
    return [Series(*at, colour, label, "mean", half_width=interval, in_legend=True)]


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


def _column(run: Compared, name: str) -> Float:
    if name not in run.aligned:
        return np.zeros(0)
    values: Float = run.aligned[name].to_numpy(dtype="float64", na_value=np.nan)
    return values[~np.isnan(values)]


_FIGURES = (
    ("throughput-delay", "Throughput against mean RTT. Small dots: runs; large dots: means with "
     "95 % intervals; ellipses: one standard deviation of the runs, or of a single run's seconds",
     plane),
    ("rtt-cdf", "Distribution of the RTT over all bins", cdf("tcp_rtt_ms")),
    ("throughput-cdf", "Distribution of the throughput over all bins",
     cdf("tcp_throughput_bps")),
)  # fmt: skip
