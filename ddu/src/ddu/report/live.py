# SPDX-License-Identifier: Apache-2.0
"""The other figures as plotly draws them: the same data as the SVG ones, to zoom into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddu.report.figures import Scatter, half_width, radio_series, scatters
from ddu.report.palette import GRID, INK, RADIO, colour_of
from ddu.schema.arrays import Float

MOST_DOTS = 4000
"""Of a scatter; more are thinned out evenly."""
MOST_STEPS = 500
"""Of a distribution."""
_BENEATH_PX = 45
"""For the numbers and the title of an axis, above the next plane."""


def live_figures(tables: dict[str, pd.DataFrame], way: str) -> dict[str, dict[str, Any]]:
    """`data` and `layout` for Plotly.newPlot, by the name of the SVG that shows the same.

    `phone`, where there is one, is the layout for a narrow screen.
    """
    aligned = tables["aligned"]
    made = {
        "radio-cdf": _radio_cdf(tables.get("mac"), way),
        "rtt-throughput": _rtt_throughput(aligned),
        "mac-transport": _mac_transport(aligned, way),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def _radio_cdf(mac: pd.DataFrame | None, way: str) -> dict[str, Any] | None:
    shown = radio_series(mac, way)
    if not shown:
        return None
    traces, layout = [], _layout(320)
    for index, (values, label) in enumerate(shown):
        share = np.linspace(0, 1, min(len(values), MOST_STEPS))
        axis = _number(index)
        width = 1 / len(shown)
        domain = [index * width, (index + 1) * width - (0.08 if index + 1 < len(shown) else 0)]
        quantiles = np.quantile(values, share)
        traces.append(_trace(quantiles, share, RADIO, label, "lines") | _on(axis))
        layout[f"xaxis{axis}"] = _axis(label) | {"domain": domain, "anchor": f"y{axis}"}
        layout[f"yaxis{axis}"] = _axis("share of intervals" if index == 0 else "") | {
            "anchor": f"x{axis}", "range": [0, 1],
        }  # fmt: skip
    return {"data": traces, "layout": layout | {"showlegend": False}}


def _rtt_throughput(aligned: pd.DataFrame) -> dict[str, Any] | None:
    traces: list[dict[str, Any]] = []
    for (name, cc), rows in aligned.groupby(["flow", "cc"], sort=False):
        known = rows.dropna(subset=["tcp_rtt_ms"])
        if len(known) < 2:
            continue
        x, y = _numbers(known, "tcp_rtt_ms"), _numbers(known, "tcp_throughput_bps") * 1e-6
        colour, label = colour_of(str(cc)), f"{cc} ({name})"
        traces.append(_trace(x, y, colour, label, "markers") | {"opacity": 0.35})
        mean = _trace(np.array([x.mean()]), np.array([y.mean()]), colour, label, "markers")
        bar = {"type": "data", "color": colour, "thickness": 2}
        mean |= {
            "error_x": bar | {"array": [half_width(x)]},
            "error_y": bar | {"array": [half_width(y)]},
            "marker": {"color": colour, "size": 9, "line": {"color": "white", "width": 1}},
            "showlegend": True,
        }
        traces.append(mean)
    if not traces:
        return None
    layout = _layout(420) | {"xaxis": _axis("RTT (ms)"), "yaxis": _axis("throughput (Mbit/s)")}
    return {"data": traces, "layout": layout}


def _mac_transport(aligned: pd.DataFrame, way: str) -> dict[str, Any] | None:
    pairs = [pair for pair in scatters(way) if pair.x in aligned and pair.y in aligned]
    if not pairs:
        return None
    traces = []
    for index, pair in enumerate(pairs):
        for cc, rows in aligned.groupby("cc", sort=False):
            x, y = _numbers(rows, pair.x) * pair.x_scale, _numbers(rows, pair.y) * pair.y_scale
            trace = _trace(x, y, colour_of(str(cc)), str(cc), "markers")
            traces.append(trace | _on(_number(index)) | {"opacity": 0.4})
    return {"data": traces, "layout": _grid(pairs, 3, 250), "phone": _grid(pairs, 1, 210)}


def _grid(pairs: Sequence[Scatter], across: int, height: int) -> dict[str, Any]:
    """A layout with a plane for each pair, so many beside each other, each so high in pixels."""
    down = -(-len(pairs) // across)
    layout = _layout(height * down + 40)
    for index, pair in enumerate(pairs):
        row, column = divmod(index, across)
        beside = (0.03, 0.04) if across > 1 else (0, 0)
        layout[f"xaxis{_number(index)}"] = _axis(pair.x_label) | {
            "domain": [column / across + beside[0], (column + 1) / across - beside[1]],
            "anchor": f"y{_number(index)}",
        }
        layout[f"yaxis{_number(index)}"] = _axis(pair.y_label) | {
            "domain": [
                1 - (row + 1) / down + _BENEATH_PX / height / down,
                1 - row / down - 0.08 / down,
            ],
            "anchor": f"x{_number(index)}",
        }
    return layout | {"showlegend": False}


def _number(index: int) -> str:
    """Of an axis, as plotly counts them."""
    return "" if index == 0 else str(index + 1)


def _trace(x: Float, y: Float, colour: str, name: str, mode: str) -> dict[str, Any]:
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    if mode == "markers" and len(x) > MOST_DOTS:
        kept = np.linspace(0, len(x) - 1, MOST_DOTS).astype(np.int64)
        x, y = x[kept], y[kept]
    return {
        "x": [float(f"{value:.5g}") for value in x],
        "y": [float(f"{value:.5g}") for value in y],
        "mode": mode, "name": name, "showlegend": False,
        "marker": {"color": colour, "size": 4}, "line": {"color": colour, "width": 1.5},
    }  # fmt: skip


def _on(axis: str) -> dict[str, str]:
    return {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}


def _axis(title: str) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 6}, "gridcolor": GRID, "zeroline": False}


def _layout(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 52, "r": 10, "t": 26, "b": 46},
        "font": {"family": "system-ui, sans-serif", "size": 11, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#9aa4b0", "activecolor": INK},
    }


def _numbers(rows: pd.DataFrame, name: str) -> Float:
    return rows[name].to_numpy(dtype="float64", na_value=np.nan)
