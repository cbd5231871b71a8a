# SPDX-License-Identifier: Apache-2.0
"""The settings of rfsim's channel model for a scenario's channel.

rfsim multiplies the signal by `ploss` (a gain; 20 is OpenAirInterface's own default) and adds noise
of `noise_power_dB`: 256 · 10^(x/10) in each component, so that one step is 2 dB of power. The
modems send a resource element with 519/√2 (gNB) and 512/√2 (UE). At ploss 20 and noise 0 the SINR
is thus 20.12 and 20.00 dB. A real gNB and UE with a fixed MCS fail at the SINR at which
OpenAirInterface's link simulators do (docs/nr-link-model.md), within 0.3 dB.

Both modems compute with integers of 16 bits for a signal as at ploss 0. A stronger one loses up to
4 dB, most where 16QAM and 64QAM begin. The SINR of a setting is that at which the modems would do
as well at ploss 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ccu.scenarios.play import played
from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

STEP_S = 0.1
_REFERENCE_PLOSS_DB = 20.0
_REFERENCE_SINR_DB = 20.1
"""The ratio of the powers at the reference signal and noise 0."""
_NOISE_DB_A_STEP = 2.0
_SATURATED_RSRP_DBM = -44.0
"""RSRP at ploss 20, where it saturates."""
_OVERDRIVE = (
    (-2.9, 3.5),
    (0.0, 1.5),
    (2.5, 0.4),
    (4.8, 0.0),
    (6.6, 3.3),
    (9.2, 2.6),
    (10.5, 2.2),
    (11.4, 4.0),
    (12.1, 3.6),
    (14.0, 2.9),
    (15.6, 2.3),
    (17.4, 1.3),
    (21.2, 1.1),
)
"""The loss of the reference signal against one at ploss 0, by the SINR of the setting, dB: where a
tenth of blocks fails, by the link simulators, mean of both directions (24 PRB). At ploss 10 half of
it, within 0.6 dB."""
# A weaker signal comes near the rounding of the modems' integers: at 15 dB of SINR a real UE has
# MCS 18 at ploss -10, and 4 at -20 (docs/validation-oai.md). Beyond these noises nothing changes.
_PLOSS_DB = (0.0, 20.0)
_NOISE_DB = (-30.0, 30.0)


@dataclass(frozen=True)
class Setting:
    ploss_db: float
    noise_db: float


def setting(rsrp_dbm: float, sinr_db: float) -> Setting:
    """Return the setting with the nearest RSRP and SINR. RSRP cannot exceed -44 dBm."""
    wanted = _REFERENCE_PLOSS_DB + rsrp_dbm - _SATURATED_RSRP_DBM
    ploss_db = float(round(_clamp(wanted, _PLOSS_DB)))
    of_powers_db = _interpolated(_of_powers(ploss_db), sinr_db)
    noise_db = (_without_noise_db(ploss_db) - of_powers_db) / _NOISE_DB_A_STEP
    return Setting(ploss_db, round(_clamp(noise_db, _NOISE_DB), 1))


def sinr_db(made: Setting) -> float:
    """Return the SINR that a setting makes, dB."""
    of_powers_db = _without_noise_db(made.ploss_db) - _NOISE_DB_A_STEP * made.noise_db
    swapped = [(power_db, sinr_db) for sinr_db, power_db in _of_powers(made.ploss_db)]
    return _interpolated(swapped, of_powers_db)


def _without_noise_db(ploss_db: float) -> float:
    """Return the SINR of the powers at noise 0."""
    return _REFERENCE_SINR_DB + ploss_db - _REFERENCE_PLOSS_DB


def _of_powers(ploss_db: float) -> list[tuple[float, float]]:
    """Return points of the SINR of the powers by that of the setting, both rising."""
    share = max(ploss_db, 0.0) / _REFERENCE_PLOSS_DB
    return [(sinr_db, sinr_db + share * loss_db) for sinr_db, loss_db in _OVERDRIVE]


def _interpolated(points: Sequence[tuple[float, float]], x: float) -> float:
    """Return the value at x, beyond both ends with a slope of 1."""
    (least, lowest), (most, highest) = points[0], points[-1]
    if x <= least:
        return lowest + x - least
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return highest + x - most


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
