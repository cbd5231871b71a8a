# SPDX-License-Identifier: Apache-2.0
"""Pictures of the panels' content, drawn with the queries that Grafana sends; not of Grafana itself."""

from __future__ import annotations

import re
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from boards.ask import Board, Question, Range, interpolated
from ddu.report.palette import GRID, INK, MUTED, colour_of, sequence

_SCALES = {"bps": (1e-6, "Mbit/s"), "decbytes": (1e-3, "kB"), "percentunit": (100, "%"), "ms": (1, "ms"),
           "cps": (1, "1/s"), "dBm": (1, "dBm"), "suffix: dB": (1, "dB"), "µs": (1, "µs")}  # fmt: skip
_COLUMNS, _UNIT_INCH = 24, 0.42
_STYLE: Any = {"font.size": 6.5, "axes.titlesize": 7, "axes.titleweight": "bold", "axes.edgecolor": MUTED,
          "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.4, "axes.linewidth": 0.5, "text.color": INK,
          "axes.labelcolor": INK, "xtick.color": MUTED, "ytick.color": MUTED}  # fmt: skip


def draw(board: Board, reader: Any, fixed: dict[str, list[str]], over: Range) -> Any:
    """Draw the dashboard's panels where Grafana places them; `reader` is a connection."""
    every = board.values(reader, fixed)
    values = {
        variable["name"]: every[variable["name"]] if variable.get("multi") else every[variable["name"]][:1]
        for variable in board.variables
    } | fixed
    panels = {question.panel["id"]: question for question in board.questions}
    rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in board.panels)
    with mpl.rc_context(_STYLE):
        figure = plt.figure(figsize=(_COLUMNS * _UNIT_INCH, rows * _UNIT_INCH * 0.75))
        for question in panels.values():
            place = question.panel["gridPos"]
            x, y, w, h = (place[key] for key in "xywh")
            box = ((x + 1.1) / _COLUMNS, 1 - (y + h - 0.9) / rows, (w - 1.5) / _COLUMNS, (h - 2.0) / rows)
            axes = figure.add_axes(box)
            sql = interpolated(question.sql, values, over)
            cursor = reader.execute(sql.encode())
            names = [column.name for column in cursor.description]
            _panel(axes, question, names, cursor.fetchall())
    return figure


def _panel(axes: Axes, question: Question, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    panel = question.panel
    axes.set_title(panel["title"], loc="left", pad=3)
    defaults = panel.get("fieldConfig", {}).get("defaults", {})
    scale, unit = _SCALES.get(defaults.get("unit", ""), (1, ""))
    match panel["type"]:
        case "stat":
            _number(axes, rows[0][0] if rows else None, scale, unit)
        case "table":
            _table(axes, names, rows)
        case "timeseries" | "state-timeline":
            _lines(axes, panel, names, rows, scale, unit)
        case "heatmap":
            _heat(axes, rows, panel["options"]["yAxis"].get("unit", ""))
        case "xychart":
            _against(axes, panel, names, rows, scale, unit)
        case "barchart":
            _bars(axes, panel, names, rows, scale, unit)


def _colour(panel: dict[str, Any], name: str, number: int) -> str:
    """Return the colour that the panel's overrides give."""
    for override in panel.get("fieldConfig", {}).get("overrides", []):
        pattern = override["matcher"]["options"]
        if override["matcher"]["id"] == "byRegexp" and re.match(pattern.strip("/"), name):
            for one in override["properties"]:
                if one["id"] == "color":
                    return str(one["value"]["fixedColor"])
    known = name.split()[0] if name else ""
    return colour_of(known) if known.islower() and len(known) > 2 else sequence(number + 1)[-1]


def _seconds(instant: Any) -> float:
    """Return the position on the axis, which starts in 1970 or at midnight today."""
    return float(instant.timestamp()) % 86400


def _lines(axes: Axes, panel: dict[str, Any], names: list[str], rows: list[Any], scale: float, unit: str) -> None:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        pairs = [(row[1], row[2])] if "metric" in names else zip(names[1:], row[1:], strict=True)
        for name, value in pairs:
            number = np.nan if value is None else float(value) * scale
            found.setdefault(name, []).append((_seconds(row[0]), number))
    custom = panel["fieldConfig"]["defaults"].get("custom", {})
    style = {"marker": ".", "ls": "", "ms": 2} if custom.get("drawStyle") == "points" else {"lw": 0.7}
    if panel["type"] == "state-timeline":
        style = {"marker": "|", "ls": "", "ms": 8}
    for number, (name, points) in enumerate(sorted(found.items())):
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=_colour(panel, name, number), label=_short(name, 44), **style)
    if custom.get("thresholdsStyle", {}).get("mode") == "dashed":
        top = axes.get_ylim()[1]
        for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1:]:
            if step["value"] < top * 1.5:
                axes.axhline(step["value"], color=step["color"], lw=0.6, ls="--")
    axes.set_ylabel(unit)
    axes.margins(x=0)
    if found:
        axes.legend(fontsize=5, loc="upper right", frameon=False, ncols=4, borderaxespad=0.1)


def _against(axes: Axes, panel: dict[str, Any], names: list[str], rows: list[Any], scale: float, unit: str) -> None:
    parts: dict[str, list[tuple[float, float]]] = {}
    for series, x, y in rows:
        parts.setdefault(series, []).append((float(x), float(y) * scale))
    lines = panel["fieldConfig"]["defaults"]["custom"].get("show") == "lines"
    x_scale, x_unit = _x_of(panel, names[1])
    for number, (name, points) in enumerate(parts.items()):
        xs, ys = (np.array(values) for values in zip(*points, strict=True))
        colour = _colour(panel, name, number)
        label = _short(name, 44)
        if lines:
            axes.plot(xs * x_scale, ys, color=colour, lw=0.9, label=label)
        else:
            axes.plot(xs * x_scale, ys, ".", color=colour, ms=2, label=label)
    axes.set_xlabel(f"{names[1]} ({x_unit})")
    axes.set_ylabel(f"{names[2]} ({unit})")
    if parts:
        axes.legend(fontsize=5, frameon=False)


def _x_of(panel: dict[str, Any], name: str) -> tuple[float, str]:
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"] == {"id": "byName", "options": name}:
            for one in override["properties"]:
                if one["id"] == "unit":
                    return _SCALES[one["value"]]
    return 1, ""


def _heat(axes: Axes, rows: list[Any], unit: str) -> None:
    scale, label = _SCALES.get(unit, (1, ""))
    if rows:
        xs = np.array([_seconds(row[0]) for row in rows])
        ys = np.array([float(row[-1]) for row in rows]) * scale
        bins = [max(2, int(xs.max() - xs.min() + 1) * 4), 28]
        axes.hist2d(xs, ys, bins=bins, cmin=1, cmap="viridis", rasterized=True)
    axes.set_ylabel(label)
    axes.grid(False)


def _bars(axes: Axes, panel: dict[str, Any], names: list[str], rows: list[Any], scale: float, unit: str) -> None:
    ticks = np.arange(len(rows))
    stacked = panel["options"].get("stacking") == "normal"
    below = np.zeros(len(rows))
    shown = [name for index, name in enumerate(names[1:], 1) if any(row[index] for row in rows)]
    for number, name in enumerate(shown):
        heights = np.array([float(row[names.index(name)] or 0) * scale for row in rows])
        width = 0.6 if stacked else 0.8 / len(shown)
        left = ticks if stacked else ticks + (number - (len(shown) - 1) / 2) * width
        axes.bar(left, heights, width, bottom=below if stacked else 0, color=_colour(panel, name, number), label=name)
        below = below + heights
    axes.set_xticks(ticks, [_short(str(row[0]), 30) for row in rows])
    axes.set_ylabel(unit)
    if shown:
        axes.legend(fontsize=5, frameon=False)


def _number(axes: Axes, value: Any, scale: float, unit: str) -> None:
    axes.axis("off")
    text = (
        "not measured" if value is None else value if isinstance(value, str) else f"{float(value) * scale:,.4g} {unit}"
    )
    if axes.get_title(loc="left") == "Latest":
        text = "just now" if value else "-"
    axes.text(0, 0.35, text, fontsize=11, color=INK, transform=axes.transAxes)


def _table(axes: Axes, names: list[str], rows: list[Any]) -> None:
    axes.axis("off")
    keep = [
        i for i, name in enumerate(names) if name not in ("run_id", "duration_ms", "directory_name", "report", "csv")
    ]
    cells = [[_cell(row[i]) for i in keep] for row in rows[:8]]
    if not cells:
        axes.text(0, 0.5, "no rows", transform=axes.transAxes, color=MUTED)
        return
    widths = [max(len(names[i]), *(len(row[n]) for row in cells)) for n, i in enumerate(keep)]
    table = axes.table(cells, colLabels=[names[i] for i in keep], cellLoc="left", loc="upper left",
                       colWidths=[width / sum(widths) for width in widths], edges="horizontal")  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(5)
    for cell in table.get_celld().values():
        cell.set_linewidth(0.3)
        cell.set_edgecolor(GRID)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%d %H:%M:%S"))
    return _short(str(value), 44) or "-"


def _short(text: str, length: int) -> str:
    """Shorten a name in the middle, which is what names of one campaign have in common."""
    half = length // 2
    return text if len(text) <= length else f"{text[: half - 1]}…{text[-half:]}"
