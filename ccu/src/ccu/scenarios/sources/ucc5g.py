# SPDX-License-Identifier: Apache-2.0
"""CSVs of University College Cork's 5G dataset (Raca et al., MMSys 2020), by G-NetTrack Pro.

Columns used: Timestamp (2020.02.14_09.38.22; some seconds have several rows), RSRP (dBm),
SNR (dB), DL_bitrate and UL_bitrate (kbit/s). RSRP and SNR are those of the serving cell.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pac

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    covered_s,
    radio_series,
    rate_series,
)
from ddu.console.problems import refusal

_COLUMNS = {
    "Timestamp": pa.timestamp("s"),
    "RSRP": pa.float64(),
    "SNR": pa.float64(),
    "DL_bitrate": pa.float64(),
    "UL_bitrate": pa.float64(),
}

_LONGEST_GAP_S = 10.0
"""The published files have rows up to 3 s apart. After a longer time the logger was off."""


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return RSRP and SNR as radio; as `capacity`, the bit rates of the traffic that was sent."""
    csv_table.names(file, list(_COLUMNS), "UCC's 5G dataset")
    columns = csv_table.read(file, _COLUMNS, stamps=["%Y.%m.%d_%H.%M.%S"])
    stamps = columns["Timestamp"].cast(pa.int64())
    t = csv_table.numbers(file, stamps, "Timestamp", 2)
    csv_table.rising(file, t, 2, strictly=False)
    t = (t - t[0]).astype(np.float64)
    if options.kind == "capacity":
        return _capacity(file, options, columns, t)
    known = pac.and_(pac.is_valid(columns["RSRP"]), pac.is_valid(columns["SNR"]))
    measured = known.to_numpy(zero_copy_only=False)
    if not measured.any():
        raise refusal(
            "no row has both RSRP and SNR", "import its bit rates: --as capacity", file=file
        )
    rsrp, snr = (columns[name].to_numpy(zero_copy_only=False)[measured] for name in ("RSRP", "SNR"))
    t_s, rsrp_dbm = _by_second(t[measured], rsrp)
    _, sinr_db = _by_second(t[measured], snr)
    summary = (
        f"Drive test {file.name}: RSRP {rsrp_dbm.min():.0f} to {rsrp_dbm.max():.0f} dBm, "
        f"SNR {sinr_db.min():.0f} to {sinr_db.max():.0f} dB."
    )
    return ImportedScenario(
        **_about(file, t_s), summary=summary, **radio_series(file, options, t_s, rsrp_dbm, sinr_db)
    )


def _capacity(
    file: Path, options: ImportOptions, columns: dict[str, pa.ChunkedArray], t: np.ndarray
) -> ImportedScenario:
    dl_kbps = csv_table.numbers(file, columns["DL_bitrate"], "DL_bitrate", 2)
    ul_kbps = csv_table.numbers(file, columns["UL_bitrate"], "UL_bitrate", 2)
    t_s, dl_mbps = _by_second(t, dl_kbps / 1e3)
    _, ul_mbps = _by_second(t, ul_kbps / 1e3)
    rows = np.unique(t, return_index=True)[1]
    csv_table.without_gaps(file, t_s, 2, rows, _LONGEST_GAP_S)  # the last rate would hold
    summary = f"Bit rates of {file.name}: {dl_mbps.mean():.1f} Mbit/s downlink on average."
    return ImportedScenario(
        **_about(file, t_s), summary=summary, **rate_series(options, t_s, dl_mbps, ul_mbps)
    )


def _about(file: Path, t_s: np.ndarray) -> dict[str, Any]:
    return {
        "duration_s": covered_s(file, t_s),
        "sources": [
            f"UCC's 5G dataset (Raca et al., MMSys 2020), {file.name}: rows of one second averaged."
        ],
    }


def _by_second(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the rows of each second, in seconds since the first one."""
    seconds, first = np.unique(t, return_inverse=True)
    means = np.bincount(first, weights=values) / np.bincount(first)
    return seconds - seconds[0], means
