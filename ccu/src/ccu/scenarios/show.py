# SPDX-License-Identifier: Apache-2.0
"""Plots and statistics of a scenario: over time, as distributions, as a table."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table

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
    """Draw each quantity over time and its distribution, as .svg, .png or .pdf.

    `reported`: the ranges that the source reports, drawn behind.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    columns = present(seen)
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "scenarios",
        "font.size": 8,
    }
    with plt.rc_context(style):
        figure, rows = plt.subplots(
            *(len(columns), 2),
            figsize=(8, 0.6 + 1.25 * len(columns)),
            width_ratios=(2.2, 1),
            layout="constrained",
            squeeze=False,
        )
        figure.suptitle(title, fontsize=9)
        for (over_time, distribution), (name, label) in zip(rows, columns.items(), strict=True):
            known = seen[["t_s", name]].dropna()
            thinned = known.iloc[:: max(1, len(known) // most_points)]
            held = "steps-post" if name.endswith("_mbps") or name == "dl_mcs" else "default"
            over_time.plot(thinned["t_s"], thinned[name], linewidth=0.8, drawstyle=held)
            for axes in (over_time, distribution):
                axes.locator_params(nbins=5)
                axes.spines[["top", "right"]].set_visible(False)
            over_time.set(ylabel=label, xlim=(0, max(float(seen["t_s"].max()), 1e-3)))
            quantiles = known[name].quantile([share / 50 for share in range(51)])
            distribution.plot(quantiles.to_numpy(), quantiles.index, linewidth=1.2)
            distribution.set(xlabel=label, ylabel="CDF", ylim=(0, 1))
            if limits := (reported or {}).get(name):
                distribution.axvspan(*limits, alpha=0.15, label="reported")
                distribution.legend(fontsize="small", frameon=False)
        rows[-1][0].set_xlabel("time, s")
        _save(figure, file)
        plt.close(figure)


def _save(figure: object, file: Path) -> None:
    if file.suffix != ".svg":
        figure.savefig(file, dpi=110)  # type: ignore[attr-defined]
        return
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})  # type: ignore[attr-defined]
    # Coordinates in tenths of a point, no indentation and long lines halve the size.
    tenths = re.sub(r"(\d+\.\d)\d+", r"\1", drawn.getvalue())
    file.write_text(re.sub(r"\s*\n\s*L ", "L", re.sub(r"\n\s+", "\n", tenths)))
