# SPDX-License-Identifier: Apache-2.0
"""The figures as SVG, for papers and for print."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddu.report.palette import GRID, INK, MUTED, RADIO, colour_of
from ddu.report.panels import Panel, shown
from ddu.schema.arrays import Float

STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "svg.hashsalt": "ddu",
}
METADATA = {"Date": None, "Creator": "ddu"}


def write_figures(directory: Path, tables: dict[str, pd.DataFrame], way: str) -> list[Path]:
    """Writes every figure that the run has data for."""
    directory.mkdir()
    aligned = tables["aligned"]
    made = {
        "timeline": timeline(aligned, way),
        "radio-cdf": radio_cdf(tables.get("mac"), way),
        "rtt-throughput": rtt_throughput(aligned),
        "mac-transport": mac_transport(aligned, way),
    }
    files = []
    for name, figure in made.items():
        if figure is not None:
            file = directory / f"{name}.svg"
            with mpl.rc_context(STYLE):
                figure.savefig(file, metadata=METADATA)
            files.append(file)
    return files


def timeline(aligned: pd.DataFrame, way: str) -> Figure:
    """Every layer under each other on one time axis."""
    panels = shown(aligned, way)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 1.25 * len(panels)), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axis, (panel, column) in zip(axes, panels, strict=True):
            _draw(axis, aligned, panel, column)
        axes[0].legend(loc="upper right", fontsize=8, frameon=False, ncols=4)
        axes[-1].set_xlabel("time since the first payload packet (s)")
        figure.align_ylabels(axes)
    return figure


def radio_cdf(mac: pd.DataFrame | None, way: str) -> Figure | None:
    """CDF of RSRP and SINR over the intervals of the run, of what was measured."""
    shown = radio_series(mac, way)
    if not shown:
        return None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 3), layout="constrained")
        axes = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for axis, (values, label) in zip(axes, shown, strict=True):
            axis.plot(values, np.arange(1, len(values) + 1) / len(values), color=RADIO)
            axis.set_xlabel(label)
        axes[0].set_ylabel("share of intervals")
    return figure


def radio_series(mac: pd.DataFrame | None, way: str) -> list[tuple[Float, str]]:
    """What the radio's distributions are of: sorted values, and what they are."""
    sinr = "mac_sinr_db" if way == "dl" else "mac_ul_snr_db"
    wanted = [("mac_rsrp_dbm", "RSRP (dBm)"), (sinr, "SINR (dB)")]
    return [
        (np.sort(_numbers(mac, name)[~np.isnan(_numbers(mac, name))]), label)
        for name, label in wanted
        if mac is not None and _any(mac, name)
    ]


def _any(table: pd.DataFrame, name: str) -> bool:
    return name in table and bool(table[name].notna().any())


def rtt_throughput(aligned: pd.DataFrame) -> Figure | None:
    """RTT against throughput, per flow: its bins, their mean and the mean's 95 % interval."""
    if aligned["tcp_rtt_ms"].notna().sum() < 2:
        return None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 4), layout="constrained")
        axis = figure.subplots()
        for (name, cc), rows in aligned.groupby(["flow", "cc"], sort=False):
            _with_interval(axis, rows.dropna(subset=["tcp_rtt_ms"]), f"{cc} ({name})", str(cc))
        axis.set_xlabel("RTT (ms)")
        axis.set_ylabel("throughput (Mbit/s)")
        axis.legend(frameon=False)
    return figure


def mac_transport(aligned: pd.DataFrame, way: str) -> Figure | None:
    """MAC against transport, one dot a bin (Hercules, figure 4)."""
    pairs = [pair for pair in scatters(way) if pair.x in aligned and pair.y in aligned]
    if not pairs:
        return None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots(2, 3).ravel()
        for axis, pair in zip(axes, pairs, strict=False):
            for cc, rows in aligned.groupby("cc", sort=False):
                x, y = _numbers(rows, pair.x) * pair.x_scale, _numbers(rows, pair.y) * pair.y_scale
                axis.plot(x, y, ".", markersize=2.5, alpha=0.4, rasterized=True,
                          color=colour_of(str(cc)))  # fmt: skip
            axis.set(xlabel=pair.x_label, ylabel=pair.y_label)
        for axis in axes[len(pairs) :]:
            axis.remove()
    return figure


class Scatter(NamedTuple):
    """Two columns of the aligned table against each other."""

    x: str
    x_scale: float
    x_label: str
    y: str
    y_scale: float
    y_label: str


def scatters(way: str) -> list[Scatter]:
    """Those that are drawn, of the direction of the first flow."""
    throughput = ("tcp_throughput_bps", 1e-6, "throughput (Mbit/s)")
    rtt = ("tcp_rtt_ms", 1.0, "RTT (ms)")
    return [
        Scatter(*throughput, f"mac_{way}_bler_ratio", 100, "BLER (%)"),
        Scatter("tcp_cwnd_bytes", 1e-3, "cwnd (kB)", f"mac_{way}_mcs", 1, "MCS"),
        Scatter(*rtt, f"mac_{way}_rlc_queue_bytes", 1e-3, "RLC queue (kB)"),
        Scatter(*throughput, "mac_rsrp_dbm", 1, "RSRP (dBm)"),
        Scatter(*rtt, f"mac_{way}_mcs", 1, "MCS"),
        Scatter(*throughput, f"mac_{way}_capacity_bps", 1e-6, "MAC capacity (Mbit/s)"),
    ]


def _draw(axis: Axes, aligned: pd.DataFrame, panel: Panel, column: str) -> None:
    if panel.per_flow:
        for (name, cc), rows in aligned.groupby(["flow", "cc"], sort=False):
            values = _numbers(rows, column) * panel.scale
            style = {"linestyle": "none", "marker": "."} if panel.as_dots else {"linewidth": 0.9}
            if panel.as_dots:
                values = np.where(values > 0, values, np.nan)
            axis.plot(
                rows["t_s"], values, color=colour_of(str(cc)), label=f"{cc} ({name})", **style
            )
        if panel.total and aligned["flow"].nunique() > 1:
            total = aligned.groupby("t_s")[column].sum() * panel.scale
            axis.plot(total.index, total, color=INK, linewidth=0.9, label="total")
    else:
        rows = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
        axis.plot(rows["t_s"], _numbers(rows, column) * panel.scale, color=RADIO, linewidth=0.9)
    if panel.unit != "dBm":
        axis.set_ylim(bottom=0)
    axis.set_ylabel(f"{panel.title}\n({panel.unit})" if panel.unit else panel.title, fontsize=8)


def _with_interval(axis: Axes, rows: pd.DataFrame, label: str, cc: str) -> None:
    rtt, rate = _numbers(rows, "tcp_rtt_ms"), _numbers(rows, "tcp_throughput_bps") * 1e-6
    if len(rows) < 2:
        return
    colour = colour_of(cc)
    axis.plot(rtt, rate, ".", markersize=3, alpha=0.25, color=colour, rasterized=True)
    axis.errorbar(rtt.mean(), rate.mean(), xerr=half_width(rtt), yerr=half_width(rate), fmt="o",
                  color=colour, markeredgecolor="white", capsize=3, label=label)  # fmt: skip


def half_width(values: Float) -> float:
    """Half of the mean's 95 % interval, from 20 batch means: neighbours are not independent."""
    batches = np.array([batch.mean() for batch in np.array_split(values, 20) if len(batch)])
    student_t_19 = 2.093
    return float(student_t_19 * batches.std(ddof=1) / np.sqrt(len(batches)))


def _numbers(rows: pd.DataFrame, name: str) -> Float:
    return rows[name].to_numpy(dtype="float64", na_value=np.nan)
