# SPDX-License-Identifier: Apache-2.0
"""The figures of a comparison: throughput against delay with ellipses, and distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddu.campaign.metrics import shown
from ddu.compare.load import Compared
from ddu.compare.tables import grouped, of_group, values_of
from ddu.report.ellipse import add_ellipse
from ddu.report.palette import METADATA, STYLE, colours_of
from ddu.schema.arrays import Float

_SERIES_S = 1.0


def write_figures(directory: Path, runs: Sequence[Compared]) -> list[tuple[str, Path]]:
    """Draw the figures that there is data for; return captions and files."""
    directory.mkdir(parents=True)
    made = []
    for name, caption, draw in _FIGURES:
        with mpl.rc_context(STYLE):
            figure = draw(runs)
            if figure is None:
                continue
            file = directory / f"{name}.svg"
            figure.savefig(file, metadata=METADATA)
        made.append((caption, file))
    return made


def plane(runs: Sequence[Compared]) -> Figure | None:
    """Draw throughput against mean RTT: up and left is better.

    A dot a run; a cross a group's mean with its intervals; an ellipse one standard deviation, of
    the repeats, or, of a single run, of its seconds.
    """
    groups = grouped(runs)
    colours = colours_of(list(groups))
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axis = figure.subplots()
    drawn = False
    for label, group in groups.items():
        x, y = values_of(group, "rtt_ms.mean"), values_of(group, "throughput_bps")
        if not x or len(x) != len(y):
            continue
        drawn = True
        xs, ys = np.array(x), np.array(y) * 1e-6
        points = (xs, ys) if len(xs) >= 3 else _seconds(group)
        centre = (float(xs.mean()), float(ys.mean()))
        add_ellipse(axis, points[0], points[1], colours[label], centre)
        axis.plot(xs, ys, ".", color=colours[label], alpha=0.5, markersize=5)
        _mean(axis, group, label, colours[label])
    if not drawn:
        return None
    axis.set(xlabel="mean RTT (ms)", ylabel="throughput (Mbit/s)")
    axis.set_xlim(left=max(axis.get_xlim()[0], 0))
    axis.set_ylim(bottom=max(axis.get_ylim()[0], 0))
    axis.legend(frameon=False)
    return figure


def cdf(column: str) -> Callable[[Sequence[Compared]], Figure | None]:
    """Return a function that draws the distribution of a column over all bins of each group."""

    def draw(runs: Sequence[Compared]) -> Figure | None:
        groups, how = grouped(runs), shown(column)
        colours = colours_of(list(groups))
        figure = Figure(figsize=(7, 3.4), layout="constrained")
        axis = figure.subplots()
        for label, group in groups.items():
            values = np.sort(np.concatenate([_column(run, column) for run in group]))
            if len(values):
                share = np.arange(1, len(values) + 1) / len(values)
                axis.plot(values * how.scale, share, color=colours[label], label=label)
        if not axis.lines:
            return None
        axis.set(xlabel=how.axis, ylabel="share of bins", ylim=(0, 1))
        axis.legend(frameon=False)
        return figure

    return draw


def _mean(axis: Axes, group: Sequence[Compared], label: str, colour: str) -> None:
    x, y = of_group(group, "rtt_ms.mean"), of_group(group, "throughput_bps")
    if x is None or y is None:
        return
    bars = [
        None if m.low is None or m.high is None
        else np.array([[m.mean - m.low], [m.high - m.mean]]).clip(0) * scale
        for m, scale in ((x, 1.0), (y, 1e-6))
    ]  # fmt: skip
    axis.errorbar(x.mean, y.mean * 1e-6, xerr=bars[0], yerr=bars[1], fmt="P", color=colour,
                  markeredgecolor="white", markersize=8, capsize=3, label=label)  # fmt: skip


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
    ("throughput-delay", "Throughput against mean RTT. Dots: runs; crosses: means with 95 % "
     "intervals; ellipses: one standard deviation of the runs, or of a single run's seconds",
     plane),
    ("rtt-cdf", "Distribution of the RTT over all bins", cdf("tcp_rtt_ms")),
    ("throughput-cdf", "Distribution of the throughput over all bins",
     cdf("tcp_throughput_bps")),
)  # fmt: skip
