# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG: for papers, for print, and for browsers that do not run the page's script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from ddu.report.figure import (
    BOTTOM_PX,
    LEFT_PX,
    RIGHT_PX,
    TOP_PX,
    Figure,
    Place,
    Plot,
    Series,
    height_px,
    places,
)
from ddu.report.palette import GRID, INK, MUTED
from ddu.schema.arrays import Float

WIDTH_PX = 860
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


def rendered(figure: Figure) -> str:
    """Return the figure as an SVG document."""
    height = height_px(figure, figure.across)
    shared = _x_range(figure.plots) if figure.shared_x else None
    body = [
        line
        for plot, place in zip(figure.plots, places(figure, figure.across), strict=True)
        for line in _plot(plot, _pixels(place, height), shared)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {height}" '
            f'width="{WIDTH_PX}" height="{height}" font-family="system-ui, sans-serif" '
            f'font-size="11" fill="{INK}">',
            f'<rect width="{WIDTH_PX}" height="{height}" fill="white"/>',
            *_legend(figure.legend),
            *body,
            "</svg>\n",
        ]
    )


def _pixels(place: Place, height: int) -> Place:
    """Return the place in pixels; y grows downwards."""
    width, inner = WIDTH_PX - LEFT_PX - RIGHT_PX, height - TOP_PX - BOTTOM_PX
    x = [LEFT_PX + share * width for share in place[:2]]
    y = [TOP_PX + (1 - share) * inner for share in place[2:]]
    return Place(*x, *y)


def _plot(plot: Plot, at: Place, shared_x: tuple[float, float] | None) -> Iterator[str]:
    x = _Scale(*(shared_x or _x_range([plot])), at.left, at.right)
    low, high = _range([np.concatenate([s.y - s.half_width[1], s.y + s.half_width[1]])
                        for s in plot.series])  # fmt: skip
    y = _Scale(min(low, 0.0) if plot.y_from_zero else low, high, at.bottom, at.top)
    for tick in y.ticks(4):
        (py,) = y.px(np.array([tick]))
        yield _grid(at.left, py, at.right, py)
        yield _text(at.left - 5, py + 3.5, f"{tick:g}", "end", MUTED)
    for tick in x.ticks(6):
        (px,) = x.px(np.array([tick]))
        yield _grid(px, at.bottom, px, at.top)
        if plot.x_label:
            yield _text(px, at.bottom + 14, f"{tick:g}", "middle", MUTED)
    for series in plot.series:
        yield from _series(series, x, y)
    yield _text((at.left + at.right) / 2, at.bottom + 31, plot.x_label, "middle")
    middle = (at.top + at.bottom) / 2
    if plot.y_label:
        turned = f'transform="rotate(-90 {at.left - 42:.1f} {middle:.1f})"'
        yield _text(at.left - 42, middle, plot.y_label, "middle", more=turned)
    if plot.title:
        title = f"<tspan font-weight='bold'>{escape(plot.title)}</tspan> {escape(plot.note)}"
        yield f'<text x="{at.left:.1f}" y="{at.top - 6:.1f}">{title}</text>'


def _series(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    px, py = x.px(series.x), y.px(series.y)
    known = ~np.isnan(px) & ~np.isnan(py)
    points = np.char.mod("%.1f", np.stack([px, py], axis=1)[known])
    if series.kind == "line":
        # A gap begins a new line.
        begins = np.flatnonzero(known)
        opens = np.ones(len(begins), dtype=bool)
        np.not_equal(np.diff(begins), 1, out=opens[1:])
        commands = np.where(opens, "M", "L")
        path = "".join(np.char.add(commands, _joined(points)).tolist())
        dash = f' stroke-dasharray="{_DASHES[series.dash]}"' if _DASHES[series.dash] else ""
        yield f'<path d="{path}" fill="none" stroke="{series.colour}"{dash}/>'
    elif series.kind == "dots":
        path = "".join(f"M{point}h0" for point in _joined(points).tolist())
        yield (
            f'<path d="{path}" stroke="{series.colour}" stroke-width="3.5" '
            f'stroke-linecap="round" stroke-opacity="{series.opacity:g}"/>'
        )
    else:
        yield from _mean(series, x, y)


def _mean(series: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    (cx, left, right), (cy, top, bottom) = (
        scale.px(float(value[0]) + np.array([0.0, -half_width, half_width]))
        for scale, value, half_width in zip(
            (x, y), (series.x, series.y), series.half_width, strict=True
        )
    )
    bars = f"M{left:.1f} {cy:.1f}H{right:.1f}M{cx:.1f} {top:.1f}V{bottom:.1f}"
    yield f'<path d="{bars}" stroke="{series.colour}" stroke-width="2"/>'
    yield (f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4.5" fill="{series.colour}" stroke="white"/>')


def _legend(entries: list[Series]) -> Iterator[str]:
    left = float(LEFT_PX)
    for series in entries:
        dash = f' stroke-dasharray="{_DASHES[series.dash]}"' if _DASHES[series.dash] else ""
        yield (f'<path d="M{left:.1f} 10h18" stroke="{series.colour}" stroke-width="2"{dash}/>')
        yield _text(left + 23, 14, series.name, "start")
        left += 40 + 6.2 * len(series.name)


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
    return _range([series.x for plot in plots for series in plot.series], margin=0.02)


def _range(values: list[Float], margin: float = 0.05) -> tuple[float, float]:
    every = np.concatenate([np.zeros(0), *values])
    every = every[np.isfinite(every)]
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
    room = (high - low) * margin or 0.5
    return (low if low == 0 else low - room), high + room
