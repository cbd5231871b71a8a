# SPDX-License-Identifier: Apache-2.0
"""A timed schedule of commands for the channel model of OpenAirInterface's rfsim.

`channelmod modify INDEX ploss|noise_power_dB VALUE` over telnet, about ten a second at most. ploss
is a gain in dB; one step of noise_power_dB is 2 dB of power; RSRP saturates near -44 dBm, which is
ploss 20. At ploss 20 and noise 0 a gNB settled where about 17 dB of SINR is needed; relative
changes are truer than absolute ones.
"""

from __future__ import annotations

from pathlib import Path

from ccu.errors import Refused
from ccu.experiment import Experiment
from ccu.scenarios.play import play

STEP_MS = 200
"""Two commands each make ten a second."""
MODEL_INDEX = 0
SATURATED_DBM, PLOSS_THERE_DB, SINR_THERE_DB = -44.0, 20.0, 17.0
NOISE_DB_A_STEP = 2.0
PLOSS_DB = (-30.0, 20.0)
NOISE = (-30.0, 30.0)


def write(experiment: Experiment, seconds: float, base: Path) -> list[Path]:
    """NAME.txt: lines of seconds and a command, only where something changes. Raises Refused."""
    played = play(experiment, seconds, STEP_MS)
    if played["rsrp_dbm"].isna().all():
        raise Refused(f"--scenario: {experiment.scenario}: has no radio; rfsim needs RSRP and SINR")
    known = played[["t_s", "rsrp_dbm", "sinr_db"]].bfill().ffill()
    lines = [
        f"# {experiment.scenario}, seed {experiment.seed}, every {STEP_MS} ms: seconds, command",
        f"# model {MODEL_INDEX}: see `channelmod show current`; write its index instead",
    ]
    last: dict[str, float] = {}
    for t_s, rsrp_dbm, sinr_db in known.itertuples(index=False):
        for name, value in settings(rsrp_dbm, sinr_db).items():
            if last.get(name) != value:
                lines.append(f"{t_s:.3f} channelmod modify {MODEL_INDEX} {name} {value:g}")
                last[name] = value
    target = base.with_name(f"{base.name}.txt")
    target.write_text("\n".join(lines) + "\n")
    return [target]


def settings(rsrp_dbm: float, sinr_db: float) -> dict[str, float]:
    """The parameters whose RSRP and SINR come nearest."""
    ploss_db = round(_clamp(PLOSS_THERE_DB + rsrp_dbm - SATURATED_DBM, PLOSS_DB))
    without_noise_db = SINR_THERE_DB + ploss_db - PLOSS_THERE_DB
    noise = round(_clamp((without_noise_db - sinr_db) / NOISE_DB_A_STEP, NOISE), 1)
    return {"noise_power_dB": noise, "ploss": float(ploss_db)}


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])
