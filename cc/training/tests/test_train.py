# SPDX-License-Identifier: Apache-2.0
"""Training gives the same weights again, and the shipped ones are what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ccplane import network
from ccplane.learned import deepcc, orca
from ccplane.learned.interval import HISTORY

INPUTS = {"orca": orca.INPUTS, "deepcc": deepcc.INPUTS}


@pytest.mark.parametrize("agent", sorted(INPUTS))
def test_shipped_weights_say_how_they_were_made(agent: str) -> None:
    file = network.SHIPPED / f"{agent}.json"
    assert file.stat().st_size < 200_000
    made = json.loads(file.read_text())["made"]
    assert made["command"].startswith(f"python -m cctraining.train {agent} --seed ")
    assert made["torch"]
    # It learned something: on links of their own, the mean reward is more than without it.
    assert made["mean_reward_by_steps"][-1][1] > 0.2 + made["mean_reward_without_agent"]
    network.load(Path(agent), agent, INPUTS[agent], HISTORY)


def test_the_same_seed_gives_the_same_weights(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="only `make train` installs it")
    from cctraining import train

    first, second = (train.train("orca", seed=3, steps=20_000) for _ in range(2))
    assert first["layers"] == second["layers"]
    assert first["layers"] != train.train("orca", seed=4, steps=20_000)["layers"]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(first))
    network.load(file, "orca", orca.INPUTS, HISTORY)
