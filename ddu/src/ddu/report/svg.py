# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG: for papers, for print, and for browsers that do not run the page's script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from ddu.report.figure import (
    BOTTOM_PX,
    LEFT_PX,
    RIGHT_PX,
    TOP_PX,
    Area,
    Figure,
    Plot,
    Series,
    areas_of,
    height_px,
    standing_alone,
)
from ddu.report.palette import DARK, GRID, INK, MUTED
from ddu.schema.arrays import Float

WIDTH_PX = 860
_DARK = "@media (prefers-color-scheme: dark) {" + "".join(
    f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
    for light, dark in DARK.items()
) + "}"  # fmt: skip
_DASHES = {"solid": "", "dash": "6 3", "dot": "1.5 2.5", "dashdot": "6 3 1.5 3"}


@dataclass(frozen=True)
class _Scale:
    """An axis: values from `low` to `high` on pixels from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float

    def px(self, values: Float) -> Float:
        return self.begin + (values - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self, most: int) -> list[float]:
        """Return round numbers within the axis, at most about so many."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(number * step, 12) for number in range(first, last + 1)]


def write(figures: Mapping[str, Figure], results: Path) -> dict[str, str]:
    """Write figures/ into the folder; return the documents by the figures' names."""
    images = {name: rendered(figure) for name, figure in figures.items()}
    (results / "figures").mkdir()
    for name, image in images.items():
        (results / "figures" / f"{name}.svg").write_text(image, encoding="utf-8")
    return images


def rendered(figure: Figure) -> str:
    """Return the figure as an SVG document."""
    legend, legend_px = _legend(figure.legend)
    height = height_px(figure, figure.across) + legend_px
    shared = _x_range(figure.plots) if figure.shared_x else None
    body = [
        line
        for plot, area in zip(figure.plots, areas_of(figure, figure.across), strict=True)
        for line in _plot(plot, _pixels(area, TOP_PX + legend_px, height), shared)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {height}" '
            f'width="{WIDTH_PX}" height="{height}" font-family="system-ui, sans-serif" '
            f'font-size="11" fill="{INK}">',
            f'<rect width="{WIDTH_PX}" height="{height}" fill="white"/>',
            *legend,
            *body,
            "</svg>\n",
        ]
    )


def in_theme(image: str) -> str:
    """Return the SVG document as a picture of a page, dark where the page is."""
    return image.replace("\n", f"\n<style>{_DARK}</style>\n", 1)


def _pixels(area: Area, top_px: int, height: int) -> Area:
    """Return the area in pixels; y grows downwards."""
    width, inner = WIDTH_PX - LEFT_PX - RIGHT_PX, height - top_px - BOTTOM_PX
    x = [LEFT_PX + share * width for share in area[:2]]
    y = [top_px + (1 - share) * inner for share in area[2:]]
    return Area(*x, *y)


def _plot(plot: Plot, at: Area, shared_x: tuple[float, float] | None) -> Iterator[str]:
    x = _Scale(*(shared_x or _x_range([plot])), at.left, at.right)
    low, high = _range([_extremes(series, axis=1) for series in plot.series])
    if plot.y_from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    y = _Scale(low, high, at.bottom, at.top)
    yield from _bands(plot, x, at)
    for tick in y.ticks(4):
        (py,) = y.px(np.array([tick]))
        yield _grid(at.left, py, at.right, py)
        yield _text(at.left - 5, py + 3.5, f"{tick:g}", "end", MUTED)
    if plot.x_names:
        yield from _names(plot.x_names, x, at)
    else:
        yield from _x_ticks(plot, x, at)
    for series in plot.series:
        yield from _series(series, x, y)
    yield from _marks(plot, x, at)
    yield _text((at.left + at.right) / 2, at.bottom + 31, plot.x_label, "middle")
    middle = (at.top + at.bottom) / 2
    if plot.y_label:
        turned = f'transform="rotate(-90 {at.left - 42:.1f} {middle:.1f})"'
        yield _text(at.left - 42, middle, plot.y_label, "middle", more=turned)
    if plot.title:
        title = f"<tspan font-weight='bold'>{escape(plot.title)}</tspan> {escape(plot.note)}"
        yield f'<text x="{at.left:.1f}" y="{at.top - 6:.1f}">{title}</text>'


def _marks(plot: Plot, x: _Scale, at: Area) -> Iterator[str]:
    """Yield a line across the plot for each mark, with its text beside it."""
    for mark in plot.marks:
        (px,) = x.px(np.array([mark.x]))
        dash = f'stroke-dasharray="{_DASHES["dash"]}"'
        yield f'<path d="M{px:.1f} {at.bottom:.1f}L{px:.1f} {at.top:.1f}" stroke="{INK}" {dash}/>'
        yield _text(px + 4, at.top + 11, mark.text, "start", INK)


def _bands(plot: Plot, x: _Scale, at: Area) -> Iterator[str]:
    """Yield the bands, with their names on top."""
    for band in plot.bands:
        begin, end = np.clip(x.px(np.array([band.begin, band.end])), at.left, at.right)
        if end <= begin:
            continue
        path = f"M{begin:.1f} {at.bottom:.1f}V{at.top:.1f}H{end:.1f}V{at.bottom:.1f}Z"
        yield f'<path d="{path}" fill="{band.colour}" fill-opacity="{band.opacity:g}"/>'
        if band.name and end - begin > 6.2 * len(band.name):
            yield _text(begin + 3, at.top + 10, band.name, "start", MUTED)


def _x_ticks(plot: Plot, x: _Scale, at: Area) -> Iterator[str]:
    for tick in x.ticks(6):
        (px,) = x.px(np.array([tick]))
        yield _grid(px, at.bottom, px, at.top)
        if plot.x_label:
            yield _text(px, at.bottom + 14, f"{tick:g}", "middle", MUTED)


def _names(names: Sequence[str], x: _Scale, at: Area) -> Iterator[str]:
    """Yield the names below the axis, aslant where they would overlap."""
    is_crowded = sum(map(len, names)) * 6.2 > at.right - at.left
    for px, name in zip(x.px(np.arange(len(names), dtype=float)), names, strict=True):
        if is_crowded:
            aslant = f'transform="rotate(-25 {px:.1f} {at.bottom + 10:.1f})" font-size="9"'
            yield _text(px, at.bottom + 10, name, "end", MUTED, aslant)
        else:
            yield _text(px, at.bottom + 14, name, "middle", MUTED)


def _series(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    px, py = x.px(series.x), y.px(series.y)
    if series.kind == "steps":
        px, py = np.repeat(px, 2)[1:], np.repeat(py, 2)[:-1]
    known = np.isfinite(px) & np.isfinite(py)
    points = np.char.mod("%.1f", np.stack([px, py], axis=1)[known])
    if series.kind == "limit" and len(points):
        (ground,) = y.px(np.array([max(y.low, 0.0)]))
        ends = f"{points[-1][0]} {ground:.1f}L{points[0][0]} {ground:.1f}"
        below = "L".join([*_joined(points).tolist(), ends])
        yield f'<path d="M{below}Z" fill="{series.colour}" fill-opacity="0.13"/>'
    if series.kind in ("line", "steps", "limit"):
        # A gap begins a new line.
        begins = np.flatnonzero(known)
        opens = np.ones(len(begins), dtype=bool)
        np.not_equal(np.diff(begins), 1, out=opens[1:])
        alone = standing_alone(known)[known]
        pieces = np.char.add(np.where(opens, "M", "L"), _joined(points))
        path = "".join(np.char.add(pieces, np.where(alone, "h0", "")).tolist())
        dash = f' stroke-dasharray="{_DASHES[series.dash]}"' if _DASHES[series.dash] else ""
        cap = ' stroke-linecap="round"' if alone.any() else ""
        yield f'<path d="{path}" fill="none" stroke="{series.colour}"{dash}{cap}/>'
    elif series.kind == "dots":
        path = "".join(f"M{point}h0" for point in _joined(points).tolist())
        yield (
            f'<path d="{path}" stroke="{series.colour}" stroke-width="3.5" '
            f'stroke-linecap="round" stroke-opacity="{series.opacity:g}"/>'
        )
    elif series.kind == "area":
        path = "L".join(_joined(points).tolist())
        yield f'<path d="M{path}Z" fill="{series.colour}" fill-opacity="{series.opacity:g}"/>'
    else:
        yield from _means(series, x, y)


def _means(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    """Yield a dot, or a bar from 0, for each mean, with the intervals that are known."""
    zero_y, colour = float(y.px(np.zeros(1))[0]), series.colour
    half_x, half_y = (np.broadcast_to(half, len(series.x)) for half in series.half_width)
    for at_x, at_y, of_x, of_y in zip(series.x, series.y, half_x, half_y, strict=True):
        if not np.isfinite([at_x, at_y]).all():
            continue
        cx, left, right = x.px(at_x + np.array([0.0, -of_x, of_x]))
        cy, top, bottom = y.px(at_y + np.array([0.0, -of_y, of_y]))
        if series.kind == "bars":
            begin, end = x.px(at_x + np.array([-0.5, 0.5]) * series.bar_width)
            path = f"M{begin:.1f} {zero_y:.1f}V{cy:.1f}H{end:.1f}V{zero_y:.1f}Z"
            yield f'<path d="{path}" fill="{colour}" stroke="white"/>'
        lines = "" if not np.isfinite(left) else f"M{left:.1f} {cy:.1f}H{right:.1f}"
        lines += "" if not np.isfinite(top) else f"M{cx:.1f} {top:.1f}V{bottom:.1f}"
        line_colour = INK if series.kind == "bars" else colour
        if lines:
            yield f'<path d="{lines}" stroke="{line_colour}" stroke-width="2"/>'
        if series.kind == "mean":
            yield f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4.5" fill="{colour}" stroke="white"/>'


def _legend(entries: list[Series]) -> tuple[list[str], int]:
    """Return the legend, and how much higher than one line it is."""
    lines, left, top = [], float(LEFT_PX), 10
    for series in entries:
        width = 40 + 6.2 * len(series.name)
        if left + width > WIDTH_PX and left > LEFT_PX:
            left, top = float(LEFT_PX), top + 16
        dash = f' stroke-dasharray="{_DASHES[series.dash]}"' if _DASHES[series.dash] else ""
        lines += [
            f'<path d="M{left:.1f} {top}h18" stroke="{series.colour}" stroke-width="2"{dash}/>',
            _text(left + 23, top + 4, series.name, "start"),
        ]
        left += width
    return lines, top - 10


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{GRID}"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = INK, more: str = "") -> str:
    if not text:
        return ""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} fill="{colour}" {more}>{escape(text)}</text>'


def _joined(points: np.ndarray) -> np.ndarray:
    return np.char.add(np.char.add(points[:, 0], " "), points[:, 1])


def _x_range(plots: Sequence[Plot]) -> tuple[float, float]:
    names = max(len(plot.x_names) for plot in plots) if plots else 0
    if names:
        return -0.6, names - 0.4
    return _range([_extremes(each, axis=0) for plot in plots for each in plot.series], margin=0.02)


def _extremes(series: Series, axis: int) -> Float:
    """Return the values of an axis, and the ends of the intervals that are known."""
    values = series.y if axis else series.x
    half = np.nan_to_num(series.half_width[axis])
    return np.concatenate([values - half, values + half])


def _range(values: list[Float], margin: float = 0.05) -> tuple[float, float]:
    every = np.concatenate([np.zeros(0), *values])
    every = every[np.isfinite(every)]
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
    beyond = (high - low) * margin or 0.5
    return (low - beyond if low < 0 else max(low - beyond, 0)), high + beyond
