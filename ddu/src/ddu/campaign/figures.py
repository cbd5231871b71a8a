# SPDX-License-Identifier: Apache-2.0
"""A campaign's figures, in the form that papers give them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddu import statistics
from ddu.campaign import plan as plans
from ddu.campaign.metrics import shown
from ddu.campaign.tables import usable
from ddu.report.ellipse import add_ellipse
from ddu.report.palette import METADATA, STYLE, colour_of, colours_of

_PANEL_INCHES = (4.2, 3.1)
_ACROSS = 3

Aligned = Callable[[str, tuple[str, ...]], pd.DataFrame]
"""Columns of the aligned table of a run, by its path in the campaign's directory: those that the
table has."""


class TablesMissing(Exception):  # noqa: N818
    """A run has no aligned table, as its campaign keeps less."""


class Figures(NamedTuple):
    """What was drawn, and what could not be."""

    made: list[tuple[str, Path]]
    """Titles and files."""
    without_tables: list[str]
    """Titles of those that need tables which were not kept."""


def write_figures(
    directory: Path, runs: pd.DataFrame, figures: tuple[Any, ...], aligned: Aligned
) -> Figures:
    """Draw the figures of the plan that there is data for.

    `aligned` raises TablesMissing for a run without its table.
    """
    directory.mkdir(parents=True, exist_ok=True)
    found = Figures([], [])
    for number, wanted in enumerate(figures, start=1):
        file = directory / f"{number:02d}-{wanted.kind}.svg"
        # One of an earlier report, which had more, would show other results.
        file.unlink(missing_ok=True)
        with mpl.rc_context(STYLE):
            try:
                figure = _drawn(wanted, usable(runs), aligned)
            except TablesMissing:
                found.without_tables.append(wanted.title)
                continue
            if figure is None:
                continue
            figure.savefig(file, metadata=METADATA)
        found.made.append((wanted.title, file))
    return found


def _drawn(wanted: Any, runs: pd.DataFrame, aligned: Aligned) -> Figure | None:
    if not set(plans.metrics_of(wanted)) <= set(runs):  # No run has the number.
        return None
    panels = list(_panels(wanted, _chosen(runs, wanted.where)))
    if not panels:
        return None
    draw, per_panel = _DRAW[wanted.kind], _columns_of(wanted)
    count = len(panels) * len(per_panel)
    # A row is a panel's columns, if they fit.
    across = len(per_panel) if 1 < len(per_panel) <= _ACROSS else min(count, _ACROSS)
    down = -(-count // across)
    size = (_PANEL_INCHES[0] * across, _PANEL_INCHES[1] * down)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for axis, ((title, rows), column) in zip(
        axes, itertools.product(panels, per_panel), strict=False
    ):
        draw(axis, rows, wanted, column, aligned)
        axis.set_title(title, fontsize=9)
    for axis in axes[count:]:
        axis.remove()
    handles, labels = axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _columns_of(wanted: Any) -> tuple[Any, ...]:
    return getattr(wanted, "columns", None) or getattr(wanted, "pairs", None) or (None,)


def _chosen(runs: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    for factor, labels in where.items():
        wanted = [labels] if isinstance(labels, str) else list(labels)
        runs = runs[runs[factor].isin(wanted)] if factor in runs else runs.iloc[0:0]
    return runs


def _panels(wanted: Any, runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    names = [name for name in wanted.panels if name in runs]
    if runs.empty:
        return
    if not names:
        yield "", runs
        return
    for levels, rows in runs.groupby(names, sort=False):
        yield ", ".join(f"{k}={v}" for k, v in zip(names, levels, strict=True)), rows


def _coloured(wanted: Any, runs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    if wanted.colour not in runs:
        yield "", colour_of(""), runs
        return
    labels = sorted(set(runs[wanted.colour]))
    others = colours_of(labels)
    for label in labels:
        colour = colour_of(label) if wanted.colour == "cc" else others[label]
        yield label, colour, runs[runs[wanted.colour] == label]


def _plane(axis: Axes, runs: pd.DataFrame, wanted: plans.Plane, _: Any, __: Aligned) -> None:
    x, y = shown(wanted.x), shown(wanted.y)
    for label, colour, rows in _coloured(wanted, runs.dropna(subset=[wanted.x, wanted.y])):
        xs = rows[wanted.x].to_numpy(float) * x.scale
        ys = rows[wanted.y].to_numpy(float) * y.scale
        add_ellipse(axis, xs, ys, colour)
        means = (statistics.of_repeats(list(xs)), statistics.of_repeats(list(ys)))
        bars = [[[m.mean - (m.low or m.mean)], [(m.high or m.mean) - m.mean]] for m in means]
        axis.errorbar(
            means[0].mean, means[1].mean, xerr=bars[0], yerr=bars[1], fmt="o",
            color=colour, label=label, capsize=2,
        )  # fmt: skip
        axis.plot(xs, ys, ".", color=colour, alpha=0.35, markersize=3)
    axis.set(xlabel=x.axis, ylabel=y.axis)


def _lines(axis: Axes, runs: pd.DataFrame, wanted: plans.Lines, _: Any, __: Aligned) -> None:
    y = shown(wanted.y)
    labels = list(dict.fromkeys(runs[wanted.x]))
    places = dict(zip(labels, range(len(labels)), strict=True))
    groups = list(_coloured(wanted, runs))
    for number, (label, colour, rows) in enumerate(groups):
        found = {
            level: statistics.of_repeats(list(some[wanted.y].dropna() * y.scale))
            for level, some in rows.groupby(wanted.x, sort=False)
            if some[wanted.y].notna().any()
        }
        means = np.array([one.mean for one in found.values()])
        lows = means - np.array(
            [one.low if one.low is not None else one.mean for one in found.values()]
        )
        highs = np.array([one.high if one.high is not None else one.mean for one in found.values()])
        error = np.vstack([lows, highs - means])
        at = np.array([places[str(level)] for level in found], dtype=float)
        if wanted.kind == "bars":
            width = 0.8 / len(groups)
            at += (number - (len(groups) - 1) / 2) * width
            axis.bar(at, means, width, yerr=error, color=colour, label=label, capsize=2)
        else:
            order = np.argsort(at)
            axis.errorbar(
                at[order], means[order], yerr=error[:, order], color=colour, label=label,
                marker="o", markersize=3, capsize=2,
            )  # fmt: skip
    axis.set_xticks(range(len(labels)), labels)
    axis.set(xlabel=wanted.x, ylabel=y.axis)


def _series(
    axis: Axes, runs: pd.DataFrame, wanted: plans.Series, column: str, aligned: Aligned
) -> None:
    y = shown(column)
    for label, colour, rows in _coloured(wanted, runs):
        for name, table in _per_flow(rows, column, aligned):
            at = (table["t_s"] // wanted.bin_s) * wanted.bin_s
            means = table.groupby(at)[column].mean() * y.scale
            style = "-" if name in ("", "f0") else "--"
            named = f"{label} {name}".strip()
            axis.plot(means.index, means, style, color=colour, linewidth=1.1, label=named)
    axis.set(xlabel="time (s)", ylabel=y.axis)


def _per_flow(
    rows: pd.DataFrame, column: str, aligned: Aligned
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of all repeats for each flow that has the column; a single flow has no
    name."""
    wanted = ("t_s", "flow", column)
    tables = [table for run in rows["run"] if column in (table := aligned(run, wanted))]
    if not tables:
        return
    both = pd.concat(tables)
    flows = sorted(set(both["flow"]))
    for flow in flows:
        yield (flow if len(flows) > 1 else ""), both[both["flow"] == flow]


def _cdf(axis: Axes, runs: pd.DataFrame, wanted: plans.Cdf, column: str, aligned: Aligned) -> None:
    x = shown(column)
    for label, colour, rows in _coloured(wanted, runs):
        every = (aligned(run, (column,)) for run in rows["run"])
        tables = [table[column] for table in every if column in table]
        values = np.sort(pd.concat(tables).dropna().to_numpy(float)) if tables else np.empty(0)
        if len(values):
            share = np.arange(1, len(values) + 1) / len(values)
            axis.plot(values * x.scale, share, color=colour, label=label)
    axis.set(xlabel=x.axis, ylabel="share of bins")


def _scatter(
    axis: Axes, runs: pd.DataFrame, wanted: plans.Scatter, pair: tuple[str, str], aligned: Aligned
) -> None:
    x, y = (shown(name) for name in pair)
    for label, colour, rows in _coloured(wanted, runs):
        for run in rows["run"]:
            table = aligned(run, pair)
            if set(pair) <= set(table):
                axis.plot(
                    table[pair[0]].astype(float) * x.scale, table[pair[1]].astype(float) * y.scale,
                    ".", markersize=2, alpha=0.3, color=colour, rasterized=True, label=label,
                )  # fmt: skip
                label = ""
    axis.set(xlabel=x.axis, ylabel=y.axis)


_DRAW: dict[str, Callable[..., None]] = {
    "plane": _plane,
    "lines": _lines,
    "bars": _lines,
    "series": _series,
    "cdf": _cdf,
    "scatter": _scatter,
}
