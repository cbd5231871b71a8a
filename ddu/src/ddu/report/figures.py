# SPDX-License-Identifier: Apache-2.0
"""The figures of a run, each described once from the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from ddu.metrics.capacity import ues_with_data
from ddu.report.delay_parts import delay_parts
from ddu.report.figure import RUN_TIME, Figure, Mark, Plot, Series, under_each_other
from ddu.report.mobility import bands_of, event_marks, unnamed
from ddu.report.palette import DASHES, INK, MUTED, RADIO, colours_of_flows, sequence
from ddu.report.series import distribution, thinned
from ddu.report.wider_bins import DRAWN_MS, factors, in_wider_bins
from ddu.schema.arrays import Float, floats_of
from ddu.schema.columns import Column, Panel
from ddu.statistics import of_repeats
from ddu.tables.columns import column, columns_of

CAPTIONS = {
    "timeline": "Every layer on one time axis",
    "delay-parts": "Where the delay goes: its parts as a stack",
    "channel-paths": "Paths of the channel on the samples: power over time",
    "radio-cdf": "Distribution of RSRP and SINR over the run",
    "rtt-throughput": "RTT against throughput: one dot per bin; mean and its 95 % interval",
    "mac-transport": "MAC against transport: one dot per bin",
}

_PATH = re.compile(r"channel_path_\d+_db")
_LIMIT = "what the link could carry"
"""The name of a limit in the legend."""


def figures(
    tables: dict[str, pd.DataFrame],
    direction: str,
    marks: Sequence[Mark] = (),
    ues: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Figure]:
    """Return the figures that the run has data for, by name; `marks`: what happened when; `ues`:
    the UE of each flow, 0 if absent."""
    aligned = tables["aligned"]
    made = {
        "timeline": timeline(
            aligned,
            direction,
            [*marks, *event_marks(aligned, tables.get("radio_events"), ues)],
            tables.get("mac"),
        ),
        "delay-parts": delay_parts(aligned),
        "channel-paths": channel_paths(aligned),
        "radio-cdf": radio_cdf(tables.get("mac"), direction),
        "rtt-throughput": rtt_throughput(aligned),
        "mac-transport": mac_transport(aligned, direction),
    }
    return {name: figure for name, figure in made.items() if figure.plots}


def timeline(
    aligned: pd.DataFrame,
    direction: str,
    marks: Sequence[Mark] = (),
    mac: pd.DataFrame | None = None,
) -> Figure:
    """Return all columns with a panel under each other (after Hercules, figure 5).

    In bins of 200 ms, and in the run's own to switch to; in front of the cells in which the UE was.
    """
    own_ms = _bin_ms(aligned)
    marks = [mark for mark in marks if 0 <= mark.x <= aligned["t_s"].max() + own_ms / 1e3]
    bins_count = len(aligned) // max(aligned["flow"].nunique(), 1)
    drawn, narrow = factors(own_ms, bins_count, aligned["flow"].nunique())
    chosen = panels(aligned, direction)
    if mac is not None and not _of_one_ue(mac, direction, aligned["t_s"].max()):
        chosen = [(known, replace(panel, limit="")) for known, panel in chosen]
    bands = bands_of(aligned)

    def in_bins(factor: int) -> Figure:
        figure = _timeline(aligned, chosen, own_ms, factor, marks)
        plots = [
            replace(plot, bands=bands if index == 0 else unnamed(bands))
            for index, plot in enumerate(figure.plots)
        ]
        return replace(figure, plots=plots)

    figure = in_bins(drawn)
    return figure if narrow == drawn else replace(figure, narrower=in_bins(narrow))


def _timeline(
    aligned: pd.DataFrame,
    chosen: list[tuple[Column, Panel]],
    own_ms: float,
    factor: int,
    marks: Sequence[Mark],
) -> Figure:
    drawn = {known.name: panel for known, panel in chosen}
    drawn |= {panel.limit: panel for _, panel in chosen if panel.limit}
    rows = in_wider_bins(aligned, drawn, factor)
    colours = colours_of_flows(dict(zip(rows["flow"], rows["cc"].astype(str), strict=True)))
    plots = [
        Plot(
            list(_lines(rows, known, panel, colours, in_legend=index == 0)),
            title=known.title,
            note=f"({known.units.shown}) · {known.definition}" if known.units.shown
            else f"· {known.definition}",
            y_from_zero=known.units.shown != "dBm",
            marks=[mark if index == 0 else Mark(mark.x, "") for mark in marks],
        )
        for index, (known, panel) in enumerate(chosen)
    ]  # fmt: skip
    return under_each_other(plots, 120, bins=f"{own_ms * factor:g} ms")


def _bin_ms(aligned: pd.DataFrame) -> float:
    """Return the width of the bins; of a single bin, that of one that is drawn."""
    first = aligned["utc_ns"].iloc[:2].to_numpy()
    return float(first[1] - first[0]) / 1e6 if len(first) > 1 and first[1] > first[0] else DRAWN_MS


def panels(aligned: pd.DataFrame, direction: str) -> list[tuple[Column, Panel]]:
    """Return the columns that have a panel, and something to show in it, in order."""
    known_panels: dict[str, tuple[Column, Panel]] = {}
    for each in columns_of("aligned"):
        name = each.name.format(direction=direction, n="")
        known = column(name) if each.panel and name in aligned else None
        if known and known.panel and _has_points(aligned[name], known.panel):
            limit = known.panel.limit.format(direction=direction)
            has_limit = limit in aligned and aligned[limit].notna().any()
            known_panels[name] = known, replace(known.panel, limit=limit if has_limit else "")
    return sorted(known_panels.values(), key=lambda pair: pair[1].position)


def _has_points(values: pd.Series[Any], panel: Panel) -> bool:
    """Whether some value is known; of dots, which are events, whether there was one."""
    return bool((values > 0).any() if panel.as_dots else values.notna().any())


def radio_cdf(mac: pd.DataFrame | None, direction: str) -> Figure:
    """Return the CDF of RSRP and SINR over the intervals of the run, of what changed."""
    sinr = "mac_sinr_db" if direction == "dl" else "mac_ul_snr_db"
    plots: list[Plot] = []
    for name, label in (("mac_rsrp_dbm", "RSRP (dBm)"), (sinr, "SINR (dB)")):
        values = known_values(mac, name)
        if len(values) and values.min() < values.max():
            line = Series(*distribution(values), RADIO, label)
            plots.append(Plot([line], label, "" if plots else "share of intervals"))
    return Figure(plots, max(len(plots), 1), 240)


def channel_paths(aligned: pd.DataFrame) -> Figure:
    """Return the power of each path of the channel over time, of the first flow's UE."""
    first = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
    names = [name for name in map(str, aligned) if _PATH.fullmatch(name)]
    colours = sequence(len(names))
    lines = [
        Series(
            *thinned(floats_of(first, "t_s"), _values(first, name)),
            colours[index],
            f"path {index + 1}",
            in_legend=True,
        )
        for index, name in enumerate(names)
        if first[name].notna().any()
    ]
    plots = [Plot(lines, RUN_TIME, "power (dB)")] if lines else []
    return Figure(plots, 1, 280)


def rtt_throughput(aligned: pd.DataFrame) -> Figure:
    """Return RTT against throughput, per flow: its bins, their mean and the mean's 95 %
    interval."""
    series = []
    for label, colour, all_rows in _flows(aligned):
        rows = all_rows.dropna(subset=["tcp_rtt_ms"])
        if len(rows) < 2:
            continue
        x, y = _values(rows, "tcp_rtt_ms"), _values(rows, "tcp_throughput_bps")
        series.append(Series(*thinned(x, y), colour, label, "dots", opacity=0.35))
        mean = np.array([x.mean()]), np.array([y.mean()])
        interval = _half_width(x), _half_width(y)
        series.append(Series(*mean, colour, label, "mean", half_width=interval, in_legend=True))
    plots = [Plot(series, _label("tcp_rtt_ms"), _label("tcp_throughput_bps"))] if series else []
    return Figure(plots, 1, 340)


def mac_transport(aligned: pd.DataFrame, direction: str) -> Figure:
    """Return MAC against transport, one dot a bin (Hercules, figure 4)."""
    throughput, mac = "tcp_throughput_bps", f"mac_{direction}"
    pairs = (
        (throughput, f"{mac}_bler_ratio"),
        ("tcp_cwnd_bytes", f"{mac}_mcs"),
        ("tcp_rtt_ms", f"{mac}_rlc_queue_bytes"),
        (throughput, "mac_rsrp_dbm"),
        ("tcp_rtt_ms", f"{mac}_mcs"),
        (throughput, f"{mac}_capacity_bps"),
    )
    plots = []
    for x, y in pairs:
        if x not in aligned or y not in aligned:
            continue
        dots = [
            Series(*thinned(_values(rows, x), _values(rows, y)), colour, label, "dots", opacity=0.4)
            for label, colour, rows in _flows(aligned)
        ]
        if any(len(each.x) for each in dots):
            plots.append(Plot(dots, _label(x), _label(y)))
    return Figure(plots, 3, 250)


def _lines(
    aligned: pd.DataFrame, known: Column, panel: Panel, colours: Mapping[str, str], in_legend: bool
) -> Iterator[Series]:
    first = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
    if panel.limit:
        limit = floats_of(first, "t_s"), _values(first, panel.limit)
        yield Series(*limit, MUTED, _LIMIT, "limit", in_legend=in_legend)
    if not panel.per_flow:
        yield _line(first, known, panel, RADIO, known.title)
        return
    seen: dict[str, int] = {}
    for label, colour, rows in _flows(aligned, colours):
        order = seen[colour] = seen.get(colour, -1) + 1
        yield _line(rows, known, panel, colour, label, DASHES[order % len(DASHES)], in_legend)
    if panel.total and aligned["flow"].nunique() > 1:
        total = aligned.groupby("t_s")[[known.name]].sum().reset_index()
        yield _line(total, known, panel, INK, "total", "solid", in_legend)


def _of_one_ue(mac: pd.DataFrame, direction: str, until_s: float) -> bool:
    """Return whether one UE had data during the traffic, so that what it could have had is what
    the link could carry; what several could have had is on bins of each, not of the link."""
    name = f"mac_{direction}_sdu_bytes"
    during = mac[mac["t_s"].between(0, until_s)]
    return name not in mac or len(ues_with_data(during, direction)) <= 1


def _line(
    rows: pd.DataFrame, known: Column, panel: Panel, colour: str, name: str,
    dash: str = "solid", in_legend: bool = False,
) -> Series:  # fmt: skip
    x, y = floats_of(rows, "t_s"), _values(rows, known.name)
    if panel.as_dots:
        return Series(x[y > 0], y[y > 0], colour, name, "dots")
    is_state = panel.in_wider_bins == "last"
    return Series(x, y, colour, name, "steps" if is_state else "line", dash, in_legend=in_legend)


def _flows(
    aligned: pd.DataFrame, colours: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield label, colour and rows of each flow."""
    ccs = dict(zip(aligned["flow"], aligned["cc"].astype(str), strict=True))
    colours = colours or colours_of_flows(ccs)
    for name, index in aligned.groupby("flow", sort=False).indices.items():
        flow = str(name)
        yield f"{ccs[flow]} ({flow})", colours[flow], aligned.iloc[index]


def _label(name: str) -> str:
    known = column(name) or Column(name, "")
    return f"{known.title} ({known.units.shown})" if known.units.shown else known.title


def _values(rows: pd.DataFrame, name: str) -> Float:
    known = column(name) or Column(name, "")
    return floats_of(rows, name) * known.units.scale


def known_values(table: pd.DataFrame | None, name: str) -> Float:
    """Return the values of a column that are known: none, if there is no table or column."""
    if table is None:
        return np.zeros(0)
    values = floats_of(table, name)
    return values[~np.isnan(values)]


def _half_width(values: Float) -> float:
    """Return half of the mean's 95 % interval, from 20 batch means: neighbours are not
    independent. NaN for a single value."""
    batches = [float(batch.mean()) for batch in np.array_split(values, 20) if len(batch)]
    return of_repeats(batches).reach
