# SPDX-License-Identifier: Apache-2.0
"""Reports of a MAC log as the samples that docs/run-directory.md defines for raw/mac.csv.

A report states what is at an instant. A sample covers the interval from the UE's report before it;
the first report of a UE is where its counters start from, and covers nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ddu.align.counters import increments, is_counter
from ddu.readers.formats import format_of
from ddu.readers.logs import LogTable

_IDENTITY = ("mac_rnti", "mac_in_sync", "mac_cu_ue_id", "mac_ue_uid")
_FIRST_DRB_CHANNEL = 4
"""OAI numbers SRB1 and SRB2 as logical channels 1 and 2, data radio bearers from 4."""


def mac_samples(log: LogTable) -> pd.DataFrame:
    """Samples of every UE: `utc_ns` (start), `duration_ns`, `ue`, `mac_…`, in order of time.

    Counters count from each UE's first report on; `mac_<direction>_sdu_bytes` is what its data
    bearers carried, headers of RLC and PDCP included. A UE that is out of sync has its identity and
    counters, and null for every gauge. Reports without `utc_ns` are left out.
    """
    table = log.table[log.table["utc_ns"].notna()].copy()
    per_report = format_of(log).counts_per_report
    parts = [
        _of_ue(rows.sort_values("utc_ns", kind="stable"), per_report)
        for _, rows in table.groupby("ue")
    ]
    kept = [part for part in parts if len(part)]
    if not kept:
        return pd.DataFrame(columns=["utc_ns", "duration_ns", "ue"])
    joined = pd.concat(kept, ignore_index=True)
    return joined.sort_values(["utc_ns", "ue"], kind="stable", ignore_index=True)


def _of_ue(rows: pd.DataFrame, per_report: bool) -> pd.DataFrame:
    instants = rows["utc_ns"].to_numpy(dtype=np.int64)
    columns: dict[str, object] = {"ue": rows["ue"].to_numpy(dtype=np.int64)}
    names = [str(name) for name in rows if str(name).startswith(("mac_", "phone_"))]
    names = [
        name
        for name in names
        if pd.api.types.is_numeric_dtype(rows[name]) and rows[name].notna().any()
    ]
    lost = (rows.get("mac_in_sync", pd.Series(1, index=rows.index)) == 0).to_numpy()
    identity = rows.get("mac_rnti", pd.Series(0, index=rows.index)).fillna(0).to_numpy()
    for name in names:
        values = rows[name].to_numpy(dtype=np.float64)
        if name.endswith("_meas_count") and per_report:
            columns[name] = np.nancumsum(values)
        elif is_counter(name):
            columns[name] = _since_first(values, identity)
        else:
            gone = lost if name not in _IDENTITY else np.zeros(len(rows), dtype=bool)
            columns[name] = np.where(gone, np.nan, values)
    table = pd.DataFrame(columns)
    for direction in ("dl", "ul"):
        channels = [name for name in names if _is_drb(name, direction)]
        if channels:
            table[f"mac_{direction}_sdu_bytes"] = table[channels].sum(axis=1, min_count=1)
    table = table.iloc[1:].reset_index(drop=True)
    table.insert(0, "utc_ns", instants[:-1])
    table.insert(1, "duration_ns", np.diff(instants))
    return table[table["duration_ns"] > 0]


def _since_first(counter: np.ndarray, rnti: np.ndarray) -> np.ndarray:
    """Return a counter from the first report on. Under a new RNTI it began at 0."""
    grown = np.full(len(counter), np.nan)
    for value in np.unique(rnti):
        own = rnti == value
        grown[own] = increments(counter[own])
    of_first = np.flatnonzero((rnti == rnti[0]) & ~np.isnan(grown))
    grown[of_first[:1]] = 0.0
    return np.where(np.isnan(counter), np.nan, np.nancumsum(grown))


def _is_drb(name: str, direction: str) -> bool:
    parts = name.split("_")
    return parts[1:3] == [direction, "lcid"] and int(parts[3]) >= _FIRST_DRB_CHANNEL
