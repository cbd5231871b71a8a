# SPDX-License-Identifier: Apache-2.0
"""Rows of the aligned table in wider bins: what a line can show without being a band of noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ddu.schema.arrays import Float, floats_of
from ddu.schema.columns import Panel

DRAWN_MS = 200.0
"""The width of the bins that figures draw: some ten times the RTT of a 5G link."""
MOST_POINTS = 2000
"""Points of a line in those bins: more than a screen has pixels across."""
MOST_SWITCHED = 20_000
"""Points of a panel's lines together in the narrower bins that a reader may switch to."""
_FEWEST_BINS = 25
"""A run so short that it has fewer wide bins is drawn in its own."""


def bin_of(t_s: Any, width_s: float) -> Any:
    """Return the number of the bin of each time, from 0 on. A time that begins a bin belongs to it,
    whatever its rounding: 0.6 // 0.2 is 2."""
    return np.floor(t_s / width_s + 1e-6)


def factors(bin_ms: float, bins_count: int, flows_count: int) -> tuple[int, int]:
    """Return how many of the run's bins are drawn as one, and how many after a switch."""
    drawn = max(1, round(DRAWN_MS / bin_ms), -(-bins_count // MOST_POINTS))
    narrow = max(1, -(-bins_count * flows_count // MOST_SWITCHED))
    if bins_count < drawn * _FEWEST_BINS:
        drawn = narrow
    return max(drawn, narrow), narrow


def in_wider_bins(
    aligned: pd.DataFrame, panels: Mapping[str, Panel], factor: int
) -> pd.DataFrame:  # fmt: skip
    """Return t_s, flow, cc and the columns of the panels, a row for `factor` rows of a flow."""
    if factor == 1:
        return aligned
    rows = aligned.groupby("flow", sort=False).indices.values()
    parts = [_of_flow(aligned.iloc[index], panels, factor) for index in rows]
    return pd.concat(parts, ignore_index=True)


def _of_flow(rows: pd.DataFrame, panels: Mapping[str, Panel], factor: int) -> pd.DataFrame:
    first = rows.iloc[::factor]
    columns: dict[str, object] = {name: first[name].to_numpy() for name in ("t_s", "flow", "cc")}
    for name, panel in panels.items():
        values = _blocks(rows, name, factor)
        if panel.in_wider_bins == "mean" and panel.weight in rows:
            columns[name] = _weighted(values, _blocks(rows, panel.weight, factor))
        else:
            columns[name] = _TO_ONE[panel.in_wider_bins](values)
    return pd.DataFrame(columns)


def _blocks(rows: pd.DataFrame, name: str, factor: int) -> Float:
    """Return the column, a row for each wider bin, with NaN where the last one has no more."""
    values = floats_of(rows, name)
    lacking = -len(values) % factor
    padded: Float = np.concatenate([values, np.full(lacking, np.nan)])
    return padded.reshape(-1, factor)


def _sum(values: Float) -> Float:
    known = ~np.isnan(values)
    return np.where(known.any(axis=1), np.where(known, values, 0.0).sum(axis=1), np.nan)


def _mean(values: Float) -> Float:
    return _weighted(values, np.ones_like(values))


def _weighted(values: Float, weights: Float) -> Float:
    known = ~np.isnan(values) & ~np.isnan(weights)
    weight = np.where(known, weights, 0.0)
    total = np.where(known, values, 0.0) * weight
    with np.errstate(invalid="ignore"):
        mean: Float = total.sum(axis=1) / weight.sum(axis=1)
    return mean


def _last(values: Float) -> Float:
    known = ~np.isnan(values)
    at = values.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    last: Float = values[np.arange(len(values)), at]
    return last


_TO_ONE: dict[str, Callable[[Float], Float]] = {"mean": _mean, "sum": _sum, "last": _last}
