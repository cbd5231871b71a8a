# SPDX-License-Identifier: Apache-2.0
"""A timed schedule of commands for the channel model of OpenAirInterface's rfsim.

`channelmod modify INDEX ploss|noise_power_dB VALUE` over telnet, at most about ten per second.
`ccu.scenarios.oai_channel_model` maps channels to values, as for a run.
"""

from __future__ import annotations

from pathlib import Path

from ccu.scenarios.oai_channel_model import setting
from ccu.scenarios.play import play
from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

STEP_MS = 200
"""The time between settings: two commands per step are ten commands per second."""
MODEL_INDEX = 0


def write(experiment: Experiment, seconds: float, base: Path) -> list[Path]:
    """Write NAME.txt: a line of seconds and a command for each change.

    Raises RefusedError.
    """
    played = play(experiment, seconds, STEP_MS)
    if played["rsrp_dbm"].isna().all():
        raise refusal(
            f"{experiment.scenario}: has no radio",
            "choose a scenario with RSRP and SINR",
            key="scenario",
        )
    known = played[["t_s", "rsrp_dbm", "sinr_db"]].bfill().ffill()
    lines = [
        f"# {experiment.scenario}, seed {experiment.seed}, every {STEP_MS} ms: seconds, command",
        f"# model {MODEL_INDEX}: see `channelmod show current`; write its index instead",
    ]
    last: dict[str, float] = {}
    for t_s, rsrp_dbm, sinr_db in known.itertuples(index=False):
        channel = setting(rsrp_dbm, sinr_db)
        for name, value in (("noise_power_dB", channel.noise_db), ("ploss", channel.ploss_db)):
            if last.get(name) != value:
                lines.append(f"{t_s:.3f} channelmod modify {MODEL_INDEX} {name} {value:g}")
                last[name] = value
    target = base.with_name(f"{base.name}.txt")
    target.write_text("\n".join(lines) + "\n")
    return [target]
