# SPDX-License-Identifier: Apache-2.0
"""The CSV of Lumos5G v1.0 (Narayanan et al., IMC 2020; CC BY 4.0): a row per second, many runs.

Columns used: run_num, seq_num (the second within the run), Throughput (Mbit/s, iperf3 downlink),
nrStatus, nr_ssRsrp (dBm), nr_ssSinr (dB). Its authors call the last two unreliable.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    not_too_long,
    radio_series,
    rate_series,
)
from ddu.console.problems import refusal

_COLUMNS = {
    "run_num": pa.int64(),
    "seq_num": pa.int64(),
    "nr_ssRsrp": pa.float64(),
    "nr_ssSinr": pa.float64(),
    "Throughput": pa.float64(),
}


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return one run, as capacity; as `radio`, its RSRP and SINR where 5G was measured."""
    csv_table.names(file, list(_COLUMNS), "Lumos5G")
    columns = csv_table.read(file, _COLUMNS)
    runs = csv_table.numbers(file, columns["run_num"], "run_num", 2).astype(np.int64)
    known = np.unique(runs)
    run = options.run if options.run is not None else int(known[0])
    if run not in known:
        raise refusal(
            f"no run {run}", f"there are {known[0]} to {known[-1]}: give --run", file=file
        )
    rows = np.flatnonzero(runs == run)
    t_s = csv_table.numbers(file, columns["seq_num"], "seq_num", 2)[rows]
    _rising_in_run(file, t_s, rows)
    t_s = t_s - t_s[0]
    duration_s = not_too_long(file, float(t_s[-1]) + 1)
    source = f"Lumos5G v1.0 (Narayanan et al., IMC 2020, CC BY 4.0), {file.name}, run {run}."
    if options.kind == "radio":
        radio = _radio(file, options, columns, rows, t_s)
        return ImportedScenario(duration_s=duration_s, sources=[source], **radio)
    csv_table.without_gaps(file, t_s, 2, rows)  # the last rate would hold across a gap
    mbps = csv_table.numbers(file, columns["Throughput"], "Throughput", 2)[rows]
    return ImportedScenario(
        duration_s=duration_s,
        summary=f"Lumos5G run {run}: {mbps.mean():.0f} Mbit/s on average.",
        sources=[source, "Uplink: not measured; chosen, the downlink's highest rate."],
        **rate_series(options, t_s, mbps, None),
    )


def _radio(
    file: Path,
    options: ImportOptions,
    columns: dict[str, pa.ChunkedArray],
    rows: np.ndarray,
    t_s: np.ndarray,
) -> dict[str, Any]:
    rsrp_dbm = columns["nr_ssRsrp"].to_numpy(zero_copy_only=False)[rows]
    sinr_db = columns["nr_ssSinr"].to_numpy(zero_copy_only=False)[rows]
    measured = np.isfinite(rsrp_dbm) & np.isfinite(sinr_db) & (rsrp_dbm < 0)
    if not measured.any():
        raise refusal("no 5G was measured in that run", "give another --run", file=file)
    share = f"{measured.mean():.0%}"
    return {
        "summary": f"Lumos5G: 5G's RSRP and SINR, measured in {share} of the seconds.",
        **radio_series(file, options, t_s[measured], rsrp_dbm[measured], sinr_db[measured]),
    }


def _rising_in_run(file: Path, t_s: np.ndarray, rows: np.ndarray) -> None:
    bad = np.flatnonzero(np.diff(t_s) <= 0)
    if len(bad):
        line = csv_table.line_of(file, int(rows[bad[0] + 1]), 2)
        raise refusal(
            f"seq_num {t_s[bad[0] + 1]:g} comes after {t_s[bad[0]]:g}",
            "sort the rows",
            file=file,
            line=line,
        )
