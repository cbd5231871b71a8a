# SPDX-License-Identifier: Apache-2.0
"""The channel of a real radio: from a finished run's MAC table, or OpenAirInterface's log.

A run directory has utc_ns, mac_rsrp_dbm, mac_sinr_db and mac_cqi in tables/mac.csv, after
`ddu analyze` has read the gNB's logs, or in raw/mac.csv.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table, efficiency
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    covered_s,
    radio_series,
)
from ddu.console.problems import RefusedError, refusal
from ddu.errors import UnreadableInput


class Samples(NamedTuple):
    """The measurements and their times, in seconds since the first one."""

    t_s: np.ndarray
    rsrp_dbm: np.ndarray
    sinr_db: np.ndarray
    how: str
    """The source of the SINR."""


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return RSRP and SINR as radio; SINR that was not measured is estimated by CQI or MCS."""
    samples = _of_run(file) if file.is_dir() else _of_log(file)
    return ImportedScenario(
        duration_s=covered_s(file, samples.t_s),
        summary=f"The radio of {file.name}: {len(samples.t_s)} samples.",
        sources=[f"RSRP: {file.name}, its first UE. SINR: {samples.how}."],
        **radio_series(file, options, samples.t_s, samples.rsrp_dbm, samples.sinr_db),
    )


def _of_log(file: Path) -> Samples:
    """Return the samples of the log's first UE, by the times of its readings, else by its
    frames."""
    from ddu.readers.oai.mac import READINGS, read_mac_log

    try:
        log = read_mac_log(csv_table.readable_text(file))
    except UnreadableInput:
        raise _no_samples(file) from None
    clock = "utc_ns" if log.kind == READINGS else "radio_ns"
    ours = log.table[(log.table["ue"] == 0) & log.table[clock].notna()]
    if (ours[clock].diff() < 0).any():
        raise refusal("time goes back", "give the log of one run", file=file)
    ours = ours.drop_duplicates(clock, keep="last")

    def column(name: str) -> np.ndarray:
        return np.asarray(ours[name] if name in ours else np.full(len(ours), np.nan), dtype=float)

    tables = np.nan_to_num(column("mac_dl_mcs_table"))
    by_mcs = map(efficiency.sinr_of_mcs, column("mac_dl_mcs"), tables)
    sinrs = {
        "as the gNB printed it": column("mac_sinr_db"),
        "estimated from the CQI that the gNB printed": _by_cqi(column("mac_cqi")),
        "estimated from the MCS that the gNB chose": np.array(list(by_mcs)),
    }
    rsrp_dbm, at_ns = column("mac_rsrp_dbm"), ours[clock].to_numpy("int64")
    for how, sinr_db in sinrs.items():
        known = np.isfinite(rsrp_dbm) & np.isfinite(sinr_db)
        if known.any():
            t_s = (at_ns[known] - at_ns[known][0]) / 1e9
            return Samples(t_s, rsrp_dbm[known], sinr_db[known], how)
    raise _no_samples(file)


def _no_samples(file: Path) -> RefusedError:
    return refusal(
        "no UE with RSRP and SINR, CQI or MCS",
        "give the gNB's standard output, its nrMAC_stats.log read repeatedly, each time under "
        "`### seconds`, or a run's directory",
        file=file,
    )


def _by_cqi(cqis: np.ndarray) -> np.ndarray:
    return np.array([efficiency.sinr_of_cqi(cqi) for cqi in cqis])


def _of_run(run: Path) -> Samples:
    places = [run / "tables" / "mac.csv", run / "raw" / "mac.csv"]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise refusal(f"{run}: no mac.csv in tables/ nor in raw/", "run `ddu analyze` on it")
    needed = ["utc_ns", "mac_rsrp_dbm", "mac_sinr_db", "mac_cqi"]
    names = csv_table.names(file, needed, "a run with radio")
    types: dict[str, pa.DataType] = {"utc_ns": pa.int64()}
    types |= {name: pa.float64() for name in [*needed[1:], "ue"] if name in names}
    columns = csv_table.read(file, types)
    arrays = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    first_ue = np.ones(len(arrays["utc_ns"]), dtype=bool)
    if "ue" in arrays:
        first_ue = arrays["ue"] == arrays["ue"][0]
    rsrp_dbm, sinr_db = arrays["mac_rsrp_dbm"], arrays["mac_sinr_db"]
    how = "as measured"
    if not np.isfinite(sinr_db).any():
        sinr_db = _by_cqi(arrays["mac_cqi"])
        how = "estimated from its CQI"
    known = np.isfinite(rsrp_dbm) & np.isfinite(sinr_db) & first_ue
    if not known.any():
        raise refusal("no row has RSRP and SINR or CQI", "give a run with a radio", file=file)
    utc_ns = arrays["utc_ns"][known]
    csv_table.rising(file, utc_ns, 2, "ns")
    return Samples((utc_ns - utc_ns[0]) / 1e9, rsrp_dbm[known], sinr_db[known], how)
