# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md, executed as printed there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: object) -> None:
    done = command(name, *arguments)
    assert done.returncode == 0, done.stderr


def test_every_example_is_named_in_the_documentation() -> None:
    text = "".join(
        (ROOT / "docs" / name).read_text()
        for name in ("extending.md", "ci.md", "congestion-controls.md", "data-commands.md")
    )
    assert [one.name for one in EXAMPLES.iterdir() if f"examples/{one.name}" not in text] == []


@pytest.mark.root
def test_a_scenario(runs: Runs) -> None:
    scenario = EXAMPLES / "bus-stop.yaml"
    run("ccu", "scenario", "validate", scenario)
    made = runs.analysed(
        "--cc", "cubic", "--scenario", str(scenario), "--prb", "24", "--duration", "2s"
    )
    assert (made / "raw/scenario.yaml").read_bytes() == scenario.read_bytes()
    assert json.loads((made / "summary.json").read_text())["throughput_bps"] > 0


@pytest.mark.root
def test_a_campaign(runs: Runs, tmp_path: Path) -> None:
    assert runs
    run("ccu", "campaign", "run", EXAMPLES / "two-buffers.yaml", "--output", tmp_path)
    (campaign,) = tmp_path.iterdir()
    run("ddu", "campaign", "report", campaign)
    points = (campaign / "report/points.csv").read_text()
    assert {"250kB", "1MB"} <= set(points.replace("\n", ",").split(","))
