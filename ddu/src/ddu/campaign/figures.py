# SPDX-License-Identifier: Apache-2.0
"""A campaign's figures, in the form that papers give them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ddu import statistics
from ddu.campaign import plan as plans
from ddu.campaign.metrics import shown
from ddu.campaign.tables import usable
from ddu.report import svg
from ddu.report.ellipse import ellipse
from ddu.report.figure import Figure, Plot, Series, named_once
from ddu.report.palette import MUTED, colour_of, colours_of
from ddu.report.series import distribution, thinned
from ddu.report.wider_bins import bin_of
from ddu.tables.results import TableMissing

_ACROSS = 3
_ROW_PX = {1: 340, 2: 280, 3: 250}

Aligned = Callable[[str, tuple[str, ...]], pd.DataFrame]
"""Columns of the aligned table of a run, by its path in the campaign's directory: those that the
table has."""


class Figures(NamedTuple):
    """The figures that were drawn, and those that could not be."""

    made: list[tuple[str, Path]]
    """Titles and files."""
    without_tables: list[str]
    """Titles of those that need tables which were not kept."""


def write_figures(
    directory: Path, runs: pd.DataFrame, figures: tuple[Any, ...], aligned: Aligned
) -> Figures:
    """Draw the figures of the plan that there is data for.

    `aligned` raises TableMissing for a run without its table.
    """
    directory.mkdir(parents=True, exist_ok=True)
    drawn = Figures([], [])
    for number, wanted in enumerate(figures, start=1):
        file = directory / f"{number:02d}-{wanted.kind}.svg"
        try:
            figure = _figure(wanted, usable(runs), aligned)
        except TableMissing:
            drawn.without_tables.append(wanted.title)
            figure = None
        if figure is None:
            # One of an earlier report, which had more, would show other results.
            file.unlink(missing_ok=True)
        else:
            # Not waiting for the disk: reproductions have hundreds, which one command makes again.
            file.write_text(svg.rendered(figure), encoding="utf-8")
            drawn.made.append((wanted.title, file))
    return drawn


def _figure(wanted: Any, runs: pd.DataFrame, aligned: Aligned) -> Figure | None:
    if not set(plans.metrics_of(wanted)) <= set(runs):  # No run has the number.
        return None
    panels = list(_panels(wanted, _chosen(runs, wanted.where)))
    if not panels:
        return None
    draw, per_panel = _DRAW[wanted.kind], _columns_of(wanted)
    count = len(panels) * len(per_panel)
    # A row is a panel's columns, if they fit.
    across = len(per_panel) if 1 < len(per_panel) <= _ACROSS else min(count, _ACROSS)
    plots = [
        replace(draw(rows, wanted, column, aligned), title=title)
        for (title, rows), column in itertools.product(panels, per_panel)
    ]
    return Figure(named_once(plots), across, _ROW_PX[across])


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


def _plane(runs: pd.DataFrame, wanted: plans.Plane, _: Any, __: Aligned) -> Plot:
    x, y = shown(wanted.x), shown(wanted.y)
    series: list[Series] = []
    for label, colour, rows in _coloured(wanted, runs.dropna(subset=[wanted.x, wanted.y])):
        xs = rows[wanted.x].to_numpy(float) * x.scale
        ys = rows[wanted.y].to_numpy(float) * y.scale
        series += ellipse(xs, ys, colour)
        series.append(Series(xs, ys, colour, kind="dots", opacity=0.35))
        means = [statistics.of_repeats(list(values)) for values in (xs, ys)]
        at = np.array([means[0].mean]), np.array([means[1].mean])
        half = (means[0].reach, means[1].reach)
        series.append(Series(*at, colour, label, "mean", half_width=half))
    if wanted.y == "throughput_bps":
        series += _possible(wanted, runs)
    return Plot(series, x.axis, y.axis)


def _possible(wanted: plans.Plane, runs: pd.DataFrame) -> Iterator[Series]:
    """Yield the highest throughput that was possible at the points' delays (docs/bound.md): that of
    both directions, as in throughput_bps."""
    of_directions = runs.reindex(columns=["possible_bps.dl", "possible_bps.ul"])
    possible_bps = of_directions.astype(float).sum(axis=1, min_count=1)
    known = runs.assign(possible_bps=possible_bps).dropna(subset=[wanted.x, "possible_bps"])
    points = [
        (rows[wanted.x].mean() * shown(wanted.x).scale, rows["possible_bps"].mean() * scale)
        for scale in [shown(wanted.y).scale]
        for _, _, rows in _coloured(wanted, known)
        if len(rows)
    ]
    if len(points) > 1:
        xs, ys = np.array(sorted(points), dtype=float).T
        yield Series(xs, ys, MUTED, "possible", dash="dash")


def _lines(runs: pd.DataFrame, wanted: plans.Lines, _: Any, __: Aligned) -> Plot:
    y = shown(wanted.y)
    names = list(dict.fromkeys(runs[wanted.x]))
    groups = list(_coloured(wanted, runs))
    width = 0.8 / len(groups)
    series = []
    for number, (label, colour, rows) in enumerate(groups):
        means = {
            names.index(level): statistics.of_repeats(list(some[wanted.y].dropna() * y.scale))
            for level, some in rows.groupby(wanted.x, sort=False)
            if some[wanted.y].notna().any()
        }
        order = sorted(means)
        at = np.array(order, dtype=float)
        values = np.array([means[position].mean for position in order])
        half = (np.nan, np.array([means[position].reach for position in order]))
        if wanted.kind == "bars":
            at += (number - (len(groups) - 1) / 2) * width
            series.append(
                Series(at, values, colour, label, "bars", half_width=half, bar_width=width)
            )
        else:
            series.append(Series(at, values, colour))
            series.append(Series(at, values, colour, label, "mean", half_width=half))
    return Plot(series, wanted.x, y.axis, y_from_zero=wanted.kind == "bars", x_names=names)


def _series(runs: pd.DataFrame, wanted: plans.Series, column: str, aligned: Aligned) -> Plot:
    y = shown(column)
    series = []
    for label, colour, rows in _coloured(wanted, runs):
        for name, table in _per_flow(rows, column, aligned):
            at = bin_of(table["t_s"], wanted.bin_s) * wanted.bin_s
            means = table.groupby(at)[column].mean() * y.scale
            dash = "solid" if name in ("", "f0") else "dash"
            named = f"{label} {name}".strip()
            points = means.index.to_numpy(float), means.to_numpy(float, na_value=np.nan)
            series.append(Series(*points, colour, named, dash=dash))
    return Plot(series, "time (s)", y.axis)


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


def _cdf(runs: pd.DataFrame, wanted: plans.Cdf, column: str, aligned: Aligned) -> Plot:
    x = shown(column)
    series = []
    for label, colour, rows in _coloured(wanted, runs):
        every = (aligned(run, (column,)) for run in rows["run"])
        tables = [table[column] for table in every if column in table]
        if tables and pd.concat(tables).notna().any():
            values = pd.concat(tables).dropna().to_numpy(float) * x.scale
            series.append(Series(*distribution(values), colour, label))
    return Plot(series, x.axis, "share of bins")


def _scatter(
    runs: pd.DataFrame, wanted: plans.Scatter, pair: tuple[str, str], aligned: Aligned
) -> Plot:
    x, y = (shown(name) for name in pair)
    series = []
    for label, colour, rows in _coloured(wanted, runs):
        tables = [table for run in rows["run"] if set(pair) <= set(table := aligned(run, pair))]
        if tables:
            xs, ys = (
                pd.concat(tables)[name].to_numpy(float, na_value=np.nan) * how.scale
                for name, how in zip(pair, (x, y), strict=True)
            )
            series.append(Series(*thinned(xs, ys), colour, label, "dots", opacity=0.3))
    return Plot(series, x.axis, y.axis)


_DRAW: dict[str, Callable[..., Plot]] = {
    "plane": _plane,
    "lines": _lines,
    "bars": _lines,
    "series": _series,
    "cdf": _cdf,
    "scatter": _scatter,
}
