# SPDX-License-Identifier: Apache-2.0
"""The settings of rfsim's channel model for a scenario's channel.

rfsim's signal is scaled by `ploss` (a gain; 20 is OpenAirInterface's own default), and noise of
`noise_power_dB` is added: one step of the parameter is 2 dB of power. The SINR of a setting was
measured at ploss 20 only, by the MCS that the gNB converged to: 28, 27, 13, 6 at noise -10, 0, 2,
6. Compared with the SINR that those MCS need (BLER 10 %, 64QAM table), the line below fits within
about 3 dB: relative changes are more accurate than absolute values.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from ccu.scenarios.play import played
from ccu.spec.experiment import Experiment
from testbed_console.problems import refusal

STEP_S = 0.1
_REFERENCE_PLOSS_DB = 20.0
_REFERENCE_SINR_DB = 17.0
"""SINR at ploss 20 and noise 0."""
_NOISE_DB_A_STEP = 2.0
_SATURATED_RSRP_DBM = -44.0
"""RSRP at ploss 20, where it saturates."""
# Beyond these limits the UE loses its cell (RSRP) or nothing changes any more (noise).
_PLOSS_DB = (-30.0, 20.0)
_NOISE_DB = (-30.0, 30.0)


@dataclass(frozen=True)
class Setting:
    ploss_db: float
    noise_db: float


def setting(rsrp_dbm: float, sinr_db: float) -> Setting:
    """Return the setting with the nearest RSRP and SINR. RSRP cannot exceed -44 dBm."""
    wanted = _REFERENCE_PLOSS_DB + rsrp_dbm - _SATURATED_RSRP_DBM
    ploss_db = round(_clamp(wanted, _PLOSS_DB))
    sinr_without_noise_db = _REFERENCE_SINR_DB + ploss_db - _REFERENCE_PLOSS_DB
    noise_db = _clamp((sinr_without_noise_db - sinr_db) / _NOISE_DB_A_STEP, _NOISE_DB)
    return Setting(float(ploss_db), round(noise_db, 1))


def sinr_db(made: Setting) -> float:
    """Return the SINR that a setting makes, dB."""
    level_db = made.ploss_db - _REFERENCE_PLOSS_DB
    return _REFERENCE_SINR_DB + level_db - _NOISE_DB_A_STEP * made.noise_db


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def series(experiment: Experiment) -> list[list[Setting]]:
    """Return, by UE, the settings for every STEP_S of the run, as nr-link plays the scenario.

    Raises RefusedError if it has no radio.
    """
    text = played(experiment, experiment.duration_s + 1, round(STEP_S * 1e3))
    rows = list(csv.DictReader(io.StringIO(text)))
    if not any(row["rsrp_dbm"] for row in rows):
        raise refusal(
            f"{experiment.scenario} sets the capacity and has no radio",
            "choose a scenario with radio",
            key="scenario",
        )
    # No measurement means that nothing was received: the lowest power of rfsim.
    by_ue: list[list[Setting]] = [[] for _ in range(experiment.ues)]
    for row in rows:
        rsrp_dbm, sinr_db = float(row["rsrp_dbm"] or -200.0), float(row["sinr_db"] or -50.0)
        by_ue[int(row["ue"])].append(setting(rsrp_dbm, sinr_db))
    return by_ue
