# SPDX-License-Identifier: Apache-2.0
"""The figure of where delay goes: its parts as a stack below the RTT, and those of the ACKs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ddu.report.figure import Figure, Plot, Series, named_once, under_each_other
from ddu.report.palette import INK
from ddu.schema.arrays import Float

MOST_STEPS = 400
"""Points of a stack's edge."""
COLOURS = {
    "path": "#c9cfd6", "line": "#9aa4b0", "queue": "#d55e00", "tdd": "#56b4e9",
    "request": "#0072b2", "grant": "#1f77b4", "blocked": "#8c6d31", "priority": "#cc79a7",
    "service": "#e69f00", "sleep": "#2f4b7c", "transmission": "#009e73", "harq": "#b3261e",
    "rlc": "#7a5195", "order": "#bc5090", "handover": "#1b1f24", "radio": "#637939",
    "sender": "#e3e6ea", "receiver": "#667080", "ack_wait": "#f0c75e", "ack": "#7f9fbf",
}  # fmt: skip
"""A colour for each part, in the order of the stack."""
_NAMES = {
    "tdd": "TDD", "harq": "HARQ", "rlc": "RLC", "ack_wait": "wait for ACK", "ack": "ACK's way",
}  # fmt: skip


def delay_parts(aligned: pd.DataFrame) -> Figure:
    """Return the figure, two plots for each flow; without plots if delays are not explained."""
    plots: list[Plot] = []
    if "delay_ms" in aligned:
        for (flow, cc), rows in aligned.groupby(["flow", "cc"], sort=False):
            label = f"{cc} ({flow})"
            data = _stacked(rows, "delay_", ["ack_wait", "ack"])
            rtt = Series(*_line(rows, "tcp_rtt_ms"), INK, "RTT")
            note = "· parts of the one-way delay (ms), the wait for an ACK, and the ACK's way"
            plots.append(Plot([*data, rtt], title=f"{label}: RTT", note=note, y_from_zero=True))
            ack = _stacked(rows, "delay_ack_", [])
            note = "· parts of the one-way delay (ms)"
            plots.append(Plot(ack, title=f"{label}: ACK's way", note=note, y_from_zero=True))
    return under_each_other(named_once([plot for plot in plots if plot.series]), 220)


def _stacked(rows: pd.DataFrame, prefix: str, more: Sequence[str]) -> list[Series]:
    """Return an area for each part that is ever there, from below to above."""
    names = [name for name in COLOURS if name not in ("ack", "ack_wait")]
    of_part = {name: f"{prefix}{name}_ms" for name in names}
    of_part |= {name: f"delay_{name}_ms" for name in more}
    known = rows[rows[f"{prefix}ms"].notna()]
    if not len(known):
        return []
    steps = min(len(known), MOST_STEPS)
    begins = np.arange(steps) * len(known) // steps
    rows_count = np.diff(begins, append=len(known))

    def means(values: pd.Series) -> Float:
        return np.add.reduceat(values.to_numpy(), begins) / rows_count

    x = means(known["t_s"])
    below = np.zeros(len(x))
    areas = []
    for name, column in of_part.items():
        if column not in known:
            continue
        above = below + means(known[column].fillna(0.0))
        if float((above - below).max()) > 0.005:
            edge = np.concatenate([above, below[::-1]])
            areas.append(
                Series(np.concatenate([x, x[::-1]]), edge, COLOURS[name], _NAMES.get(name, name),
                       "area", opacity=0.85)
            )  # fmt: skip
        below = above
    return areas


def _line(rows: pd.DataFrame, name: str) -> tuple[Float, Float]:
    known = rows[rows[name].notna()]
    step = max(1, len(known) // MOST_STEPS)
    return known["t_s"].to_numpy()[::step], known[name].to_numpy()[::step]
