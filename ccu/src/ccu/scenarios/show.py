# SPDX-License-Identifier: Apache-2.0
"""Plots and statistics of a scenario: over time, as distributions, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from rich.table import Table

from ddu.report import svg
from ddu.report.figure import Figure, Plot, Series
from ddu.report.palette import INK, RADIO

COLUMNS = {
    "rsrp_dbm": "RSRP, dBm",
    "sinr_db": "SINR, dB",
    "dl_mcs": "MCS, DL",
    "dl_capacity_mbps": "capacity DL, Mbit/s",
    "ul_capacity_mbps": "capacity UL, Mbit/s",
}
Reported = dict[str, tuple[float, float]]
"""The ranges that a source reports, by column."""


def present(seen: pd.DataFrame) -> dict[str, str]:
    """Return the columns that have values: a scenario that sets the capacity has no radio."""
    return {name: label for name, label in COLUMNS.items() if seen[name].notna().any()}


def summary(seen: pd.DataFrame, title: str) -> Table:
    """Return a table with the mean and quantiles of each quantity."""
    table = Table(box=None, title=title, title_justify="left")
    for heading in ("", "mean", "lowest", "5 %", "median", "95 %", "highest"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, label in present(seen).items():
        low, p5, median, p95, high = seen[name].quantile([0, 0.05, 0.5, 0.95, 1])
        values = (seen[name].mean(), low, p5, median, p95, high)
        table.add_row(label, *(f"{value:.1f}" for value in values))
    return table


def draw(
    seen: pd.DataFrame,
    file: Path,
    title: str,
    reported: Reported | None = None,
    most_points: int = 300,
) -> None:
    """Draw each quantity over time and its distribution, as SVG.

    `reported`: the ranges that the source reports, drawn behind.
    """
    plots = []
    for number, (name, label) in enumerate(present(seen).items()):
        known = seen[["t_s", name]].dropna()
        over_time = _over_time(known, name, most_points)
        plots.append(Plot([over_time], "time (s)", label, title="" if number else title))
        plots.append(
            Plot(list(_distribution(known[name], (reported or {}).get(name))), label, "CDF")
        )
    file.write_text(svg.rendered(Figure(plots, 2, 170)), encoding="utf-8")


def _over_time(known: pd.DataFrame, name: str, most_points: int) -> Series:
    """Return the line of a quantity; one that is held until it changes has steps."""
    thinned = known.iloc[:: max(1, len(known) // most_points)]
    t_s, values = thinned["t_s"].to_numpy(float), thinned[name].to_numpy(float)
    if name.endswith("_mbps") or name == "dl_mcs":
        t_s, values = np.repeat(t_s, 2)[1:], np.repeat(values, 2)[:-1]
    return Series(t_s, values, RADIO)


def _distribution(values: pd.Series[float], limits: tuple[float, float] | None) -> Iterator[Series]:
    if limits is not None:
        low, high = limits
        corners = np.array([low, high, high, low]), np.array([0.0, 0.0, 1.0, 1.0])
        yield Series(*corners, INK, "reported", "area", opacity=0.15, in_legend=True)
    shares = np.linspace(0, 1, 51)
    yield Series(np.quantile(values.to_numpy(float), shares), shares, RADIO)
