# SPDX-License-Identifier: Apache-2.0
"""Figures as values: plot areas with series in them. plotly.py and svg.py render them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from ddu.schema.arrays import Bool, Float

RUN_TIME = "time since the first payload packet (s)"
"""The axis of a run's time."""


@dataclass(frozen=True)
class Series:
    """Points of one colour; NaN is a gap."""

    x: Float
    y: Float
    colour: str
    name: str = ""
    kind: Literal["line", "steps", "limit", "dots", "mean", "bars", "area"] = "line"
    """`steps` keeps each value until the next; `limit` is a line with the ground below it filled;
    `mean` is points with intervals, `bars` the same as bars from 0; `area` is a polygon."""
    dash: str = "solid"
    opacity: float = 1.0
    half_width: tuple[float | Float, float | Float] = (0.0, 0.0)
    """Half of the interval of a mean, in x and y; NaN without one."""
    bar_width: float = 0.8
    in_legend: bool = False


def standing_alone(known: Bool) -> Bool:
    """Return which values stand between two gaps, where a line would not show them."""
    around = np.pad(known, 1)
    return known & ~around[:-2] & ~around[2:]


class Mark(NamedTuple):
    """An instant on the x axis at which something happened, and what."""

    x: float
    text: str


@dataclass(frozen=True)
class Band:
    """A range of x behind the curves, such as the time in a cell."""

    begin: float
    end: float
    colour: str
    name: str = ""
    opacity: float = 0.12


@dataclass(frozen=True)
class Plot:
    """A plot area with two axes."""

    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    title: str = ""
    note: str = ""
    """A definition, after the title."""
    y_from_zero: bool = False
    x_names: Sequence[str] = ()
    """Names of the positions 0, 1, … of an x axis that has no numbers."""
    marks: Sequence[Mark] = ()
    bands: Sequence[Band] = ()


@dataclass(frozen=True)
class Figure:
    """Plots in rows of `across`, in reading order."""

    plots: Sequence[Plot]
    across: int
    row_px: int
    shared_x: bool = False
    """Whether all plots have one x axis, drawn below the last."""
    bins: str = ""
    """The width of the bins that the plots show, where a page can switch to others."""
    narrower: Figure | None = None
    """The same plots in the narrower bins that a page can switch to."""

    @property
    def legend(self) -> list[Series]:
        return [each for plot in self.plots for each in plot.series if each.in_legend]


def named_once(plots: Sequence[Plot]) -> list[Plot]:
    """Return the plots with one entry in the legend for each name, not one in each plot."""
    named, once = {""}, []
    for plot in plots:
        series = []
        for one in plot.series:
            series.append(replace(one, in_legend=one.name not in named))
            named.add(one.name)
        once.append(replace(plot, series=series))
    return once


def under_each_other(plots: Sequence[Plot], row_px: int, bins: str = "") -> Figure:
    """Return the plots under each other, on one axis of time, which the last one names."""
    last = [replace(plot, x_label=RUN_TIME) for plot in plots[-1:]]
    return Figure([*plots[:-1], *last], 1, row_px, shared_x=True, bins=bins)


class Area(NamedTuple):
    """The area of a plot, as shares of the figure's area; y grows upwards."""

    left: float
    right: float
    bottom: float
    top: float


TOP_PX, BOTTOM_PX, LEFT_PX, RIGHT_PX = 40, 46, 58, 10
"""Margins around the plots."""
_TITLE_PX, _AXIS_PX, _GAP_PX = 26, 46, 12
_BESIDE = 0.07
"""The space between two plots, for numbers and label of a y axis, as a share of the width."""


def height_px(figure: Figure, across: int) -> int:
    """Return the height of the figure with its margins."""
    return figure.row_px * -(-len(figure.plots) // across) + TOP_PX + BOTTOM_PX


def areas_of(figure: Figure, across: int) -> list[Area]:
    """Return where each plot lies with so many beside each other."""
    down = -(-len(figure.plots) // across)
    width = (1 - _BESIDE * (across - 1)) / across
    has_titles = any(plot.title for plot in figure.plots)
    above = _TITLE_PX if figure.shared_x or has_titles else _GAP_PX
    areas = []
    for index in range(len(figure.plots)):
        row, column = divmod(index, across)
        last = figure.shared_x or row == down - 1
        below = 0 if last else _AXIS_PX
        left = column * (width + _BESIDE)
        top, bottom = 1 - row / down, 1 - (row + 1) / down
        share = 1 / (figure.row_px * down)
        areas.append(Area(left, left + width, bottom + below * share, top - above * share))
    return areas
