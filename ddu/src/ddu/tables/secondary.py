# SPDX-License-Identifier: Apache-2.0
"""Columns of the aligned table that the MAC's own source does not have, from the run's other logs.

A report describes the time since the previous report, as in the MAC's log. The first source of
SOURCES that knows a column gives it for the whole run: two sources are never mixed in one column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from ddu.align.bins import Bins
from ddu.align.counters import increments, is_counter
from ddu.schema.arrays import Float
from ddu.tables.columns import column as defined
from ddu.tables.intervals import Intervals

SOURCES: dict[str, dict[str, str]] = {
    "oai_ue": {},
    "channel": {},
    "oai_rrc": {"rrc_rsrp_dbm": "mac_rsrp_dbm", "rrc_sinr_db": "mac_sinr_db"},
    "oai_l1": {
        **{f"l1_ul_rounds_{n}_count": f"mac_ul_rounds_{n}_count" for n in range(1, 5)},
        "l1_ul_dtx_count": "mac_ulsch_dtx_count",
        "l1_ul_bytes": "mac_ul_bytes",
        "l1_ul_bytes_scheduled": "mac_ul_bytes_scheduled",
        "l1_dl_bytes": "mac_dl_bytes",
        "l1_dl_layers": "mac_ri",
        "l1_ul_layers": "mac_ul_ri",
        "l1_ul_qm": "mac_ul_qm",
    },
    "oai_o1": {
        "o1_dl_throughput_bps": "mac_dl_throughput_bps",
        "o1_ul_throughput_bps": "mac_ul_throughput_bps",
    },
}
"""The tables, nearest to the radio first: their names for columns of the aligned table, beside
those that are called so already (`mac_…`, `channel_…`)."""
_PREFIXES = ("mac_", "channel_")
_IDENTITY = {"mac_rnti", "mac_cu_ue_id"}


def secondary_on_bins(
    tables: dict[str, pd.DataFrame], ue: int, bins: Bins, known: Iterable[str]
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return one UE's columns that are not `known`, on bins, and which table gave which."""
    taken, columns = set(known), {}
    given: dict[str, list[str]] = {}
    for source, names in SOURCES.items():
        table = tables.get(source)
        if table is None or "ue" not in table:
            continue
        rows = table[(table["ue"] == ue) & table["utc_ns"].notna()]
        for column, name in _candidates(rows, names):
            values = None if name in taken else _on_bins(rows, column, name, bins)
            if values is not None:
                columns[name] = values
                taken.add(name)
                given.setdefault(source, []).append(name)
    return pd.DataFrame(columns), given


def numbered(table: pd.DataFrame, mac: pd.DataFrame | None) -> pd.DataFrame:
    """Return the table with the run's number of each UE (`ue`), by its RNTI.

    The MAC's samples know which UE had it; without them UEs count in order of appearance.
    """
    if "ue" in table or "mac_rnti" not in table:
        return table
    rnti = table["mac_rnti"]
    if mac is not None and "mac_rnti" in mac:
        known = mac[["mac_rnti", "ue"]].dropna().drop_duplicates("mac_rnti")
        number = dict(zip(known["mac_rnti"].astype(float), known["ue"].astype(float), strict=True))
    else:
        number = {value: float(index) for index, value in enumerate(dict.fromkeys(rnti.dropna()))}
    return table.assign(ue=rnti.map(number).astype("float64"))


def _candidates(rows: pd.DataFrame, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    for column in map(str, rows.columns):
        name = names.get(column, column)
        if name.startswith(_PREFIXES) and name not in _IDENTITY and defined(name) is not None:
            yield column, name


def _on_bins(rows: pd.DataFrame, column: str, name: str, bins: Bins) -> Float | None:
    """Return the column on bins; None if fewer than two reports have it, or none is in the bins."""
    known = rows[rows[column].notna()].sort_values("utc_ns", kind="stable")
    at = known["utc_ns"].to_numpy(dtype=np.int64)
    values = known[column].to_numpy(dtype=np.float64)
    apart = np.diff(at) > 0
    if not apart.any():
        return None
    samples = pd.DataFrame({"utc_ns": at[:-1], "duration_ns": np.diff(at)})[apart]
    intervals = Intervals(bins, samples)
    if is_counter(name):
        counted = increments(values)[1:]  # the first report is where its counter starts
        values_on_bins = intervals.amounts(counted[apart])
    else:
        values_on_bins = intervals.means(values[1:][apart])
    return None if np.isnan(values_on_bins).all() else values_on_bins
