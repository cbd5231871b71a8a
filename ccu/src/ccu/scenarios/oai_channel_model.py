# SPDX-License-Identifier: Apache-2.0
"""The settings of rfsim's channel model for a scenario's channel.

rfsim's signal is scaled by `ploss` (a gain; 20 is OpenAirInterface's own default), and noise of
`noise_power_dB` is added: one step of the parameter is 2 dB of power. The SINR of a setting is that
at which the model's receiver reaches the MAC rate that the real one reached at ploss 20 with a full
queue (docs/validation.md). Noise 1.5 and 3 were measured over a minute of radio in both directions,
at 24 and 106 PRB, and agree within 0.4 dB; 0, 4 and 8 by the MCS of a recorded run with steps of
6 s, good to 1.5 dB. The modem's own SNR is of no use: it printed 17 dB from noise 1.5 to 4.5.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import pairwise

from ccu.scenarios.play import played
from ccu.spec.experiment import Experiment
from testbed_console.problems import refusal

STEP_S = 0.1
_REFERENCE_PLOSS_DB = 20.0
_SINR_DB = ((0.0, 17.0), (1.5, 12.4), (3.0, 8.7), (4.0, 7.8), (8.0, 3.5))
"""SINR at ploss 20 by noise. Beyond both ends, a step of noise is 2 dB."""
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
    noise_db = _clamp(_noise_db(sinr_db) - _weakness(ploss_db), _NOISE_DB)
    return Setting(float(ploss_db), round(noise_db, 1))


def sinr_db(made: Setting) -> float:
    """Return the SINR that a setting makes, dB."""
    noise_db = made.noise_db + _weakness(made.ploss_db)
    (least, best_db), (most, worst_db) = _SINR_DB[0], _SINR_DB[-1]
    if noise_db < least:
        return best_db + _NOISE_DB_A_STEP * (least - noise_db)
    if noise_db > most:
        return worst_db - _NOISE_DB_A_STEP * (noise_db - most)
    for (low, high_db), (high, low_db) in pairwise(_SINR_DB):
        if noise_db <= high:
            return high_db + (low_db - high_db) * (noise_db - low) / (high - low)
    raise AssertionError


def _weakness(ploss_db: float) -> float:
    """Return the steps of noise that do the same as this much less signal than at the reference."""
    return (_REFERENCE_PLOSS_DB - ploss_db) / _NOISE_DB_A_STEP


def _noise_db(wanted_db: float) -> float:
    """Return the noise that makes an SINR in dB at the reference signal."""
    (least, best_db), (most, worst_db) = _SINR_DB[0], _SINR_DB[-1]
    if wanted_db > best_db:
        return least - (wanted_db - best_db) / _NOISE_DB_A_STEP
    if wanted_db < worst_db:
        return most + (worst_db - wanted_db) / _NOISE_DB_A_STEP
    for (low, high_db), (high, low_db) in pairwise(_SINR_DB):
        if wanted_db >= low_db:
            return low + (high - low) * (wanted_db - high_db) / (low_db - high_db)
    raise AssertionError


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
