# SPDX-License-Identifier: Apache-2.0
"""The MAC and link samples: per interval as tables of their own, and brought onto the bins."""

from __future__ import annotations

import pandas as pd

from ddu.align.bins import Bins
from ddu.align.counters import increments, is_counter
from ddu.schema.arrays import Float, floats_of
from ddu.schema.columns import rates, states
from ddu.tables.intervals import Intervals

LINK_COLUMNS = {
    "lateness_p99_us": "link_lateness_p99_us",
    "overrun_count": "link_overrun_count",
    "host_drop_count": "host_drop_count",
    "cpu_ratio": "emulator_cpu_ratio",
    "real_time_ratio": "link_real_time_ratio",
}
"""Timing trust: names in link.csv, and in the aligned table."""


def mac_table(samples: pd.DataFrame, start_utc_ns: int) -> pd.DataFrame:
    """Return gauges as measured and counters as increments, per interval and UE."""
    groups = samples.groupby("ue").indices.values()
    grown = {}
    for name in filter(is_counter, samples.columns):
        counted = floats_of(samples, name)
        grown[name] = counted.copy()
        for rows in groups:
            grown[name][rows] = increments(counted[rows])
    table = samples.assign(**grown)
    table.insert(1, "t_s", (table["utc_ns"] - start_utc_ns) / 1e9)
    return table


def mac_on_bins(table: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    """Return one UE's rows of `mac_table` on bins: counters summed, gauges averaged, and rates."""
    intervals = Intervals(bins, table)
    columns: dict[str, Float] = {}
    for name in (name for name in table.columns if name.startswith(("mac_", "phone_"))):
        columns[name] = _on_bins(intervals, name, floats_of(table, name))
    for direction in ("dl", "ul"):
        for rate, counter in rates().items():
            amount = columns.get(counter.format(direction=direction))
            if amount is not None:
                columns[rate.format(direction=direction)] = amount * 8 / bins.width_s
    return pd.DataFrame(columns)


def _on_bins(intervals: Intervals, name: str, values: Float) -> Float:
    if name in states():
        return intervals.states(values)
    return intervals.amounts(values) if is_counter(name) else intervals.means(values)


def link_on_bins(samples: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    """Return the timing trust on bins."""
    intervals = Intervals(bins, samples)
    columns = {}
    for name, aligned in LINK_COLUMNS.items():
        if name in samples:
            values = floats_of(samples, name)
            values = increments(values) if is_counter(name) else values
            columns[aligned] = _on_bins(intervals, name, values)
    return pd.DataFrame(columns)
