# SPDX-License-Identifier: Apache-2.0
"""Cells and handovers in the report: bands and marks of figures, and a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ddu.report.figure import Band, Mark
from ddu.report.palette import sequence
from ddu.schema.units import Unit
from ddu.tables.columns import column

MOST_HANDOVERS = 50
"""Rows of the table: tables/handovers has all."""
_MARKS = {"handover_start": "", "radio_link_failure": "failure", "reestablished": "back"}
"""The text of each."""
_SHOWN = (
    "t_s", "flow", "handover", "class", "cell", "target", "interruption_ms", "recovery_ms",
    "throughput_before_bps", "throughput_during_bps", "throughput_after_bps", "rtt_before_ms",
    "rtt_during_ms", "rtt_after_ms", "retransmissions_count", "spurious_retransmissions_count",
    "discarded_bytes",
)  # fmt: skip


def bands_of(aligned: pd.DataFrame) -> list[Band]:
    """Return the time in each cell of the UE of the first flow; nothing with one cell."""
    if "mac_cell" not in aligned:
        return []
    rows = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
    cells, t_s = rows["mac_cell"].to_numpy(dtype="float64"), rows["t_s"].to_numpy(dtype="float64")
    known = ~np.isnan(cells)
    cells, t_s = cells[known], t_s[known]
    if not len(cells):
        return []
    begins = np.flatnonzero(np.concatenate([[True], np.diff(cells) != 0]))
    ends = [*t_s[begins[1:]], t_s[-1]]
    colours = sequence(int(cells.max()) + 1)
    return [
        Band(float(t_s[begin]), float(end), colours[int(cells[begin])], f"cell {cells[begin]:.0f}")
        for begin, end in zip(begins, ends, strict=True)
    ]


def event_marks(aligned: pd.DataFrame, events: pd.DataFrame | None) -> list[Mark]:
    """Return the starts of handovers, failures and returns of the first UE."""
    if events is None or "mac_cell" not in aligned:
        return []
    marked = events[(events["ue"] == events["ue"].min()) & events["kind"].isin(list(_MARKS))]
    return [
        Mark(float(at), _MARKS[str(kind)])
        for at, kind in zip(marked["t_s"], marked["kind"], strict=True)
    ]


def unnamed(bands: list[Band]) -> list[Band]:
    """Return the bands without names, for the plots below the first."""
    return [replace(band, name="") for band in bands]


def handover_rows(handovers: pd.DataFrame | None) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of the table of handovers; nothing without any."""
    if handovers is None or handovers.empty:
        return [], []
    shown = [name for name in _SHOWN if name in handovers]
    known = [column(name, "handovers") for name in shown]
    units = [each.units if each else Unit() for each in known]
    heads = [
        f"{name.rsplit('_', 1)[0] if unit.shown else name} ({unit.shown})" if unit.shown else name
        for name, unit in zip((one.replace("_count", "") for one in shown), units, strict=True)
    ]
    rows = [
        [_text(row[name], unit) for name, unit in zip(shown, units, strict=True)]
        for _, row in handovers.head(MOST_HANDOVERS).iterrows()
    ]
    return [head.replace("_", " ") for head in heads], rows


def _text(value: Any, unit: Unit) -> str:
    if isinstance(value, str):
        return value
    if value is None or pd.isna(value):
        return "n/a"
    scaled = float(value) * unit.scale
    return f"{scaled:.0f}" if scaled == round(scaled) else f"{scaled:.1f}"
