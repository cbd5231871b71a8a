# SPDX-License-Identifier: Apache-2.0
"""Figures as plotly.js draws them: the reader of a page can zoom into these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ddu.report.figure import (
    BOTTOM_PX,
    LEFT_PX,
    RIGHT_PX,
    TOP_PX,
    Area,
    Band,
    Figure,
    Mark,
    Plot,
    Series,
    areas_of,
    height_px,
    standing_alone,
)
from ddu.report.palette import THEME
from ddu.schema.arrays import Float


def rendered(figure: Figure) -> dict[str, Any]:
    """Return `data` and `layout` for Plotly.newPlot; `phone`, the layout for narrow screens; and
    `bins` and `narrower`, to switch between two widths of bins.

    A colour such as @ink is the name of one of the page's theme, which the page replaces.
    """
    drawn: dict[str, Any] = {"data": _data(figure), "layout": _layout(figure, figure.across)}
    if figure.across > 1:
        drawn["phone"] = _layout(figure, 1)
    if narrower := figure.narrower:
        drawn["bins"] = figure.bins
        drawn["narrower"] = {"bins": narrower.bins, "data": _data(narrower)}
    return drawn


def _data(figure: Figure) -> list[dict[str, Any]]:
    return [
        _trace(series, index, figure)
        for index, plot in enumerate(figure.plots)
        for series in plot.series
    ]


def _trace(series: Series, index: int, figure: Figure) -> dict[str, Any]:
    """Return the trace of a series in plot `index`; lines and points are in px."""
    is_line = series.kind in ("line", "steps", "limit")
    colour = THEME.get(series.colour, series.colour)
    trace: dict[str, Any] = {
        # Bins of milliseconds differ after hours, too.
        "x": _rounded(series.x, 9 if figure.shared_x else 5), "y": _rounded(series.y),
        "name": series.name, "mode": "lines" if is_line else "markers",
        "showlegend": series.in_legend,
        "xaxis": _x_axis(figure, index), "yaxis": f"y{_axis_number(index)}",
    }  # fmt: skip
    if is_line:
        trace["line"] = {"color": colour, "width": 1.4, "dash": series.dash}
        trace["line"] |= {"shape": "hv"} if series.kind == "steps" else {}
        if (alone := standing_alone(np.isfinite(series.y))).any():
            sizes = np.where(alone, 3, 0).tolist()
            trace |= {"mode": "lines+markers", "marker": {"color": colour, "size": sizes}}
    elif series.kind == "dots":
        trace |= {"marker": {"color": colour, "size": 4}, "opacity": series.opacity}
    elif series.kind == "area":
        trace |= {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": colour}
        trace |= {"opacity": series.opacity, "hoverinfo": "skip"}
    else:
        edge = {"color": "@sheet", "width": 1}
        trace["marker"] = {"color": colour, "size": 9, "line": edge}
        bar = {"type": "data", "color": colour, "thickness": 2}
        for name, half_width in zip(("error_x", "error_y"), series.half_width, strict=True):
            trace[name] = bar | {"array": _rounded(np.atleast_1d(half_width))}
    if series.kind == "limit":
        trace |= {"fill": "tozeroy", "fillcolor": "@ground"}
        trace["line"] |= {"width": 1}
    if figure.shared_x and figure.legend:
        trace["legendgroup"] = series.name
    return trace


def _layout(figure: Figure, across: int) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": height_px(figure, across),
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        "font": {"family": "system-ui, sans-serif", "size": 11, "color": "@ink"},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"bgcolor": "@sheet", "bordercolor": "@line", "font": {"color": "@ink"}},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#9aa4b0", "activecolor": "@ink"},
        "annotations": [],
    }  # fmt: skip
    # One line for the pointer's time through all panels, and one box with the values of each.
    over_all = {"hovermode": "x unified", "hoversubplots": "axis"}
    layout |= over_all if figure.shared_x else {"hovermode": "closest"}
    for index, (plot, area) in enumerate(zip(figure.plots, areas_of(figure, across), strict=True)):
        layout |= _axes(figure, index, area)
        place = {"xref": _x_axis(figure, index), "yref": f"y{_axis_number(index)} domain"}
        shapes = [place | _rectangle(band) for band in plot.bands]
        shapes += [_line_at(mark) | place for mark in plot.marks]
        if shapes:
            layout.setdefault("shapes", []).extend(shapes)
        if plot.title:
            layout["annotations"].append(_title(plot, area))
        layout["annotations"].extend(_text_at(mark) | place for mark in plot.marks)
    if figure.shared_x:
        last = f"y{_axis_number(len(figure.plots) - 1)}"
        layout["xaxis"] = _axis(figure.plots[-1].x_label) | {"anchor": last}
    return layout


def _axes(figure: Figure, index: int, area: Area) -> dict[str, Any]:
    """Return the y axis of a plot, and its x axis if it has one of its own."""
    plot, number = figure.plots[index], _axis_number(index)
    y_axis = _axis(plot.y_label) | {
        "domain": [area.bottom, area.top], "nticks": 4 if figure.shared_x else 6,
        "rangemode": "tozero" if plot.y_from_zero else "normal",
        "anchor": _x_axis(figure, index),
        # Where panels share the time, dragging chooses a time, in all of them.
        "fixedrange": figure.shared_x,
    }  # fmt: skip
    if figure.shared_x:
        return {f"yaxis{number}": y_axis}
    x_axis = _axis(plot.x_label) | {"domain": [area.left, area.right], "anchor": f"y{number}"}
    return {f"yaxis{number}": y_axis, f"xaxis{number}": x_axis}


def _rectangle(band: Band) -> dict[str, Any]:
    return {
        "y0": 0, "y1": 1, "type": "rect", "layer": "below", "line": {"width": 0}, "x0": band.begin,
        "x1": band.end, "fillcolor": band.colour, "opacity": band.opacity,
    }  # fmt: skip


def _line_at(mark: Mark) -> dict[str, Any]:
    line = {"color": "@ink", "width": 1, "dash": "dash"}
    return {"type": "line", "x0": mark.x, "x1": mark.x, "y0": 0, "y1": 1, "line": line}


def _text_at(mark: Mark) -> dict[str, Any]:
    return {
        "text": mark.text, "x": mark.x, "y": 1, "xanchor": "left", "yanchor": "top",
        "showarrow": False, "font": {"size": 10},
    }  # fmt: skip


def _title(plot: Plot, area: Area) -> dict[str, Any]:
    return {
        "text": f"<b>{plot.title}</b> {plot.note}", "xref": "paper", "yref": "paper",
        "x": area.left, "y": area.top, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
        "font": {"size": 10.5},
    }  # fmt: skip


def _axis(title: str) -> dict[str, Any]:
    label = {"text": title, "standoff": 6, "font": {"color": "@muted"}}
    return {"title": label, "gridcolor": "@line", "zeroline": False}


def _x_axis(figure: Figure, index: int) -> str:
    return "x" if figure.shared_x else f"x{_axis_number(index)}"


def _axis_number(index: int) -> str:
    """Return the number in the name of a plot's axes: x and y of the first, then x2 and y2."""
    return "" if index == 0 else str(index + 1)


def _rounded(values: Float, digits: int = 5) -> list[float | None]:
    """Return the values with so many significant digits; None where JSON has no number for it."""
    form = f"%.{digits}g"
    rounded = (float(form % value) for value in values.tolist())
    return [value if math.isfinite(value) else None for value in rounded]
