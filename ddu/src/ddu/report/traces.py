# SPDX-License-Identifier: Apache-2.0
"""The stacked figure as plotly draws it: zoomable, one time axis, sane in size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ddu.report.palette import DASHES, GRID, INK, RADIO, colour_of
from ddu.report.panels import Panel, shown
from ddu.schema.arrays import Float

MAX_POINTS = 2000
"""Points of a line: more than a screen has pixels across."""
_PANEL_PX = 120


def timeline(aligned: pd.DataFrame, way: str) -> dict[str, Any]:
    """`data` and `layout` for Plotly.newPlot."""
    panels = shown(aligned, way)
    layout: dict[str, Any] = {
        "height": _PANEL_PX * len(panels) + 80,
        "margin": {"l": 56, "r": 8, "t": 48, "b": 40},
        "font": {"family": "system-ui, sans-serif", "size": 11, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x",
        "dragmode": "zoom",
        "legend": {"orientation": "h", "y": 1.012, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        "xaxis": {"title": {"text": "time since the first payload packet (s)"},
                  "gridcolor": GRID, "anchor": f"y{len(panels)}", "zeroline": False},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#9aa4b0", "activecolor": INK},
        "annotations": [],
    }  # fmt: skip
    data: list[dict[str, Any]] = []
    for row, (panel, column) in enumerate(panels):
        top, share = 1 - row / len(panels), 1 / len(panels)
        axis = "" if row == 0 else str(row + 1)
        layout[f"yaxis{axis}"] = {
            "domain": [top - 0.96 * share, top - 0.28 * share],
            "gridcolor": GRID, "zeroline": False, "nticks": 4,
            "rangemode": "normal" if panel.unit == "dBm" else "tozero",
        }  # fmt: skip
        unit = f" ({panel.unit})" if panel.unit else ""
        layout["annotations"].append(
            {"text": f"<b>{panel.title}</b>{unit} · {panel.definition}", "xref": "paper",
             "yref": "paper", "x": 0, "y": top - 0.26 * share, "xanchor": "left",
             "yanchor": "bottom", "showarrow": False, "font": {"size": 10.5}}
        )  # fmt: skip
        data += _traces(aligned, panel, column, f"y{axis}", legend=row == 0)
    return {"data": data, "layout": layout}


def _traces(
    aligned: pd.DataFrame, panel: Panel, column: str, axis: str, legend: bool
) -> list[dict[str, Any]]:
    if not panel.per_flow:
        rows = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
        return [_line(rows["t_s"], rows[column], panel, axis, panel.title, RADIO)]
    traces: list[dict[str, Any]] = []
    seen: dict[object, int] = {}
    for (name, cc), rows in aligned.groupby(["flow", "cc"], sort=False):
        order = seen[cc] = seen.get(cc, -1) + 1
        label = f"{cc} ({name})"
        trace = _line(rows["t_s"], rows[column], panel, axis, label, colour_of(str(cc)))
        trace |= {"showlegend": legend, "legendgroup": label}
        trace["line"]["dash"] = DASHES[order % len(DASHES)]
        traces.append(trace)
    if panel.total and len(traces) > 1:
        total = aligned.groupby("t_s")[column].sum()
        trace = _line(pd.Series(total.index), total, panel, axis, "total", INK)
        traces.append(trace | {"showlegend": legend, "legendgroup": "total"})
    return traces


def _line(
    t_s: pd.Series, values: pd.Series, panel: Panel, axis: str, name: str, colour: str
) -> dict[str, Any]:
    y = values.to_numpy(dtype="float64", na_value=np.nan) * panel.scale
    x = t_s.to_numpy(dtype="float64")
    if panel.as_dots:
        x, y = x[y > 0], y[y > 0]
    else:
        x, y = _decimated(x, y)
    return {
        "x": [round(float(value), 3) for value in x],
        "y": [None if np.isnan(value) else float(f"{value:.5g}") for value in y],
        "yaxis": axis, "xaxis": "x", "name": name, "showlegend": False,
        "mode": "markers" if panel.as_dots else "lines",
        "line": {"color": colour, "width": 1.2},
        "marker": {"color": colour, "size": 4},
    }  # fmt: skip


def _decimated(x: Float, y: Float) -> tuple[Float, Float]:
    """Means over neighbouring bins when there are more points than a screen can show."""
    step = -(-len(x) // MAX_POINTS)
    if step <= 1:
        return x, y
    whole = len(x) // step * step
    known = ~np.isnan(y[:whole].reshape(-1, step))
    total = np.where(known, y[:whole].reshape(-1, step), 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return x[:whole:step], total / known.sum(axis=1)
