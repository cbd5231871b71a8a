# SPDX-License-Identifier: Apache-2.0
"""A scenario as plain CSV, for simulators that read path loss, SINR or positions over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ccu.scenarios import nr_link
from ccu.scenarios.library import locate
from ccu.scenarios.play import play
from ccu.scenarios.write import write_csv
from ccu.spec.experiment import Experiment

STEP_MS = 20
"""The period of the SSB: RSRP changes no faster."""


def write(experiment: Experiment, seconds: float, base: Path) -> list[Path]:
    """Write NAME.csv: t_s; x_m and y_m if there is a route; path_loss_db, rsrp_dbm, sinr_db,
    ul_snr_db, cqi, dl_mcs if there is radio; dl_capacity_mbps, ul_capacity_mbps."""
    scenario = nr_link.scenario(locate(experiment.scenario, experiment.seed))
    played = play(experiment, seconds, STEP_MS).drop(columns="ue")
    columns: dict[str, np.ndarray] = {"t_s": played["t_s"].to_numpy()}
    if route := scenario.get("route"):
        stamps, x_m, y_m = zip(*((p["t_s"], p["x_m"], p["y_m"]) for p in route), strict=True)
        within = columns["t_s"] % scenario["duration_s"]
        columns |= {"x_m": np.interp(within, stamps, x_m), "y_m": np.interp(within, stamps, y_m)}
    known = played.drop(columns="t_s").dropna(axis="columns", how="all")
    known = known.bfill()  # before the first measurement
    if "rsrp_dbm" in known:
        power_dbm = scenario["ss_pbch_block_power_dbm"]
        columns["path_loss_db"] = power_dbm - known["rsrp_dbm"].to_numpy()
    columns |= {str(name): known[name].to_numpy() for name in known}
    target = base.with_name(f"{base.name}.csv")
    write_csv(target, columns)
    return [target]
