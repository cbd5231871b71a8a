# SPDX-License-Identifier: Apache-2.0
"""The channel of a real radio: from a finished run's MAC table, or OpenAirInterface's log.

A run directory has utc_ns, mac_rsrp_dbm, mac_sinr_db and mac_cqi in tables/mac.csv, after
`ddu analyze` has read the gNB's logs, or in raw/mac.csv.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table, efficiency, oai_log
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    last_step_s,
    not_too_long,
    radio_series,
)
from ccu.scenarios.sources.oai_log import Samples
from ddu.console.problems import refusal


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return RSRP and SINR as radio; SINR that was not measured is estimated by CQI or MCS."""
    samples = _of_run(file) if file.is_dir() else oai_log.read(file)
    return ImportedScenario(
        duration_s=not_too_long(file, float(samples.t_s[-1]) + last_step_s(samples.t_s)),
        summary=f"The radio of {file.name}: {len(samples.t_s)} samples.",
        sources=[f"RSRP: {file.name}, its first UE. SINR: {samples.how}."],
        **radio_series(file, options, samples.t_s, samples.rsrp_dbm, samples.sinr_db),
    )


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
        sinr_db = np.array([efficiency.sinr_of_cqi(cqi) for cqi in arrays["mac_cqi"]])
        how = "estimated from its CQI"
    known = np.isfinite(rsrp_dbm) & np.isfinite(sinr_db) & first_ue
    if not known.any():
        raise refusal("no row has RSRP and SINR or CQI", "give a run with a radio", file=file)
    utc_ns = arrays["utc_ns"][known]
    csv_table.rising(file, utc_ns, 2, "ns")
    return Samples((utc_ns - utc_ns[0]) / 1e9, rsrp_dbm[known], sinr_db[known], how)
