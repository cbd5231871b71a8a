# SPDX-License-Identifier: Apache-2.0
"""The MAC and link samples: per interval as tables of their own, and brought onto the bins."""

from __future__ import annotations

import pandas as pd

from ddu.align.bins import Bins
from ddu.align.counters import increments, is_counter
from ddu.schema.arrays import Float
from ddu.tables.intervals import amounts_per_bin, means_per_bin, states_per_bin

_RATES = {
    "bytes": "throughput_bps",
    "sdu_bytes": "sdu_throughput_bps",
    "capacity_bytes": "capacity_bps",
    "capacity_sdu_bytes": "capacity_sdu_bps",
}
"""Byte counters of a direction, and the rates that they become."""

LINK_COLUMNS = {
    "lateness_p99_us": "link_lateness_p99_us",
    "overrun_count": "link_overrun_count",
    "host_drop_count": "host_drop_count",
    "cpu_ratio": "emulator_cpu_ratio",
    "real_time_ratio": "link_real_time_ratio",
}
"""Timing trust, as link.csv and as the aligned table name it."""


_STATES = ("_technology", "_pci", "_band", "_arfcn", "_rnti", "_in_sync", "_carriers", "_on")
"""What has no mean: names of things, and flags."""


def is_state(name: str) -> bool:
    """Whether a bin has the value that is in force at its end, and not a mean."""
    return name.endswith(_STATES)


def mac_table(samples: pd.DataFrame, start_utc_ns: int) -> pd.DataFrame:
    """Per interval and UE: gauges as measured, counters as what they grew by in the interval."""
    table = samples.copy()
    for _, rows in samples.groupby("ue"):
        for name in filter(is_counter, samples.columns):
            table.loc[rows.index, name] = increments(_values(rows, name))
    table.insert(1, "t_s", (table["utc_ns"] - start_utc_ns) / 1e9)
    return table


def mac_on_bins(table: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    """One UE's rows of `mac_table`, per bin: counters summed, gauges averaged, and rates."""
    columns: dict[str, Float] = {}
    for name in (name for name in table.columns if name.startswith(("mac_", "phone_"))):
        columns[name] = _brought(bins, table, name)
    for direction in ("dl", "ul"):
        for counter, rate in _RATES.items():
            amount = columns.get(f"mac_{direction}_{counter}")
            if amount is not None:
                columns[f"mac_{direction}_{rate}"] = amount * 8 / bins.width_s
    return pd.DataFrame(columns)


def _brought(bins: Bins, table: pd.DataFrame, name: str) -> Float:
    if is_state(name):
        return states_per_bin(bins, table, _values(table, name))
    bring = amounts_per_bin if is_counter(name) else means_per_bin
    return bring(bins, table, _values(table, name))


def link_on_bins(samples: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    """Timing trust per bin."""
    columns = {}
    for name, aligned in LINK_COLUMNS.items():
        if name in samples:
            values = _values(samples, name)
            columns[aligned] = (
                amounts_per_bin(bins, samples, increments(values))
                if is_counter(name)
                else means_per_bin(bins, samples, values)
            )
    return pd.DataFrame(columns)


def _values(table: pd.DataFrame, name: str) -> Float:
    values: Float = table[name].to_numpy(dtype="float64", na_value=float("nan"))
    return values
