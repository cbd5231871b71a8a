# SPDX-License-Identifier: Apache-2.0
"""Figures for plotly.js: to zoom into, on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ddu.report.figure import (
    BOTTOM_PX,
    LEFT_PX,
    RIGHT_PX,
    TOP_PX,
    Figure,
    Plot,
    Series,
    areas_of,
    height_px,
)
from ddu.report.palette import GRID, INK, MUTED
from ddu.schema.arrays import Float


def rendered(figure: Figure) -> dict[str, Any]:
    """Return `data` and `layout` for Plotly.newPlot, and `phone`, the layout for narrow screens."""
    data = [
        _trace(series, index, figure)
        for index, plot in enumerate(figure.plots)
        for series in plot.series
    ]
    drawn = {"data": data, "layout": _layout(figure, figure.across)}
    return drawn | ({"phone": _layout(figure, 1)} if figure.across > 1 else {})


def _trace(series: Series, index: int, figure: Figure) -> dict[str, Any]:
    is_line = series.kind == "line"
    trace: dict[str, Any] = {
        "x": _numbers(series.x), "y": _numbers(series.y), "name": series.name,
        "mode": "lines" if is_line else "markers", "showlegend": series.in_legend,
        "xaxis": "x" if figure.shared_x else f"x{_number(index)}", "yaxis": f"y{_number(index)}",
    }  # fmt: skip
    if is_line:
        trace["line"] = {"color": series.colour, "width": 1.2, "dash": series.dash}
    elif series.kind == "dots":
        trace |= {"marker": {"color": series.colour, "size": 4}, "opacity": series.opacity}
    else:
        edge = {"color": "white", "width": 1}
        trace["marker"] = {"color": series.colour, "size": 9, "line": edge}
        bar = {"type": "data", "color": series.colour, "thickness": 2}
        for name, half_width in zip(("error_x", "error_y"), series.half_width, strict=True):
            trace[name] = bar | {"array": [half_width]}
    if figure.shared_x and figure.legend:
        trace["legendgroup"] = series.name
    return trace


def _layout(figure: Figure, across: int) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": height_px(figure, across),
        "margin": {"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        "font": {"family": "system-ui, sans-serif", "size": 11, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x" if figure.shared_x else "closest",
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#9aa4b0", "activecolor": INK},
        "annotations": [],
    }  # fmt: skip
    for index, (plot, area) in enumerate(zip(figure.plots, areas_of(figure, across), strict=True)):
        number = _number(index)
        layout[f"yaxis{number}"] = _axis(plot.y_label) | {
            "domain": [area.bottom, area.top], "nticks": 4 if figure.shared_x else 6,
            "rangemode": "tozero" if plot.y_from_zero else "normal",
            "anchor": "x" if figure.shared_x else f"x{number}",
        }  # fmt: skip
        if not figure.shared_x:
            layout[f"xaxis{number}"] = _axis(plot.x_label) | {
                "domain": [area.left, area.right], "anchor": f"y{number}",
            }  # fmt: skip
        if plot.title:
            layout["annotations"].append(_title(plot, area.top))
    if figure.shared_x:
        last = f"y{_number(len(figure.plots) - 1)}"
        layout["xaxis"] = _axis(figure.plots[-1].x_label) | {"anchor": last}
    return layout


def _title(plot: Plot, top: float) -> dict[str, Any]:
    return {
        "text": f"<b>{plot.title}</b> {plot.note}", "xref": "paper", "yref": "paper", "x": 0,
        "y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
        "font": {"size": 10.5},
    }  # fmt: skip


def _axis(title: str) -> dict[str, Any]:
    label = {"text": title, "standoff": 6, "font": {"color": MUTED}}
    return {"title": label, "gridcolor": GRID, "zeroline": False}


def _number(index: int) -> str:
    return "" if index == 0 else str(index + 1)


def _numbers(values: Float) -> list[float | None]:
    """Return the values with five significant digits; None for NaN."""
    return [None if text == "nan" else float(text) for text in np.char.mod("%.5g", values).tolist()]
