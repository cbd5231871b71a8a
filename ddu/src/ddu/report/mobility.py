# SPDX-License-Identifier: Apache-2.0
"""Cells and handovers in the report: bands and marks of figures, and a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ddu.report.figure import Band, Mark
from ddu.report.palette import sequence
from ddu.schema.units import Unit, unit_of

MOST_HANDOVERS = 50
"""Rows of the table: tables/handovers has all."""
_MARKS = {"handover_start": "", "radio_link_failure": "failure", "reestablished": "back"}
"""The text of each."""
_SHOWN = {
    "start": ("t_s",),
    "flow": ("flow",),
    "cells": ("cell", "target"),
    "procedure": ("handover",),
    "after a failure": ("class",),
    "interruption": ("interruption_ms",),
    "recovery": ("recovery_ms",),
    "throughput": (
        "throughput_before_bps", "throughput_during_bps", "throughput_after_bps",
    ),
    "RTT": ("rtt_before_ms", "rtt_during_ms", "rtt_after_ms"),
    "retransmissions": ("retransmissions_count",),
    "spurious": ("spurious_retransmissions_count",),
    "discarded": ("discarded_bytes",),
}  # fmt: skip
"""Columns of the table in the report, and those of tables/handovers that each shows in turn."""


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


def event_marks(
    aligned: pd.DataFrame, events: pd.DataFrame | None, ues: Mapping[str, int]
) -> list[Mark]:
    """Return the starts of handovers, failures and returns of the UE of the first flow."""
    if events is None or "mac_cell" not in aligned:
        return []
    marked = events[
        (events["ue"] == ues.get(str(aligned["flow"].iloc[0]), 0))
        & events["kind"].isin(list(_MARKS))
    ]
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
    shown = {
        head: [(name, unit_of(name)) for name in names]
        for head, names in _SHOWN.items()
        if all(name in handovers and handovers[name].notna().any() for name in names)
    }
    heads = [
        f"{head} ({unit.shown})" if (unit := columns[0][1]).shown else head
        for head, columns in shown.items()
    ]
    rows = [
        [" → ".join(_text(row[name], unit) for name, unit in columns) for columns in shown.values()]
        for _, row in handovers.head(MOST_HANDOVERS).iterrows()
    ]
    return heads, rows


def _text(value: Any, unit: Unit) -> str:
    if isinstance(value, str):
        return value.replace("_", " ")
    if value is None or pd.isna(value):
        return "n/a"
    scaled = float(value) * unit.scale
    return f"{scaled:.{0 if scaled == round(scaled) else 1 if abs(scaled) >= 10 else 2}f}"
