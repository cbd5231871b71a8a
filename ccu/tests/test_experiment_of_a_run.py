# SPDX-License-Identifier: Apache-2.0
"""The experiment of a run, with the files that it names as they were then."""

from __future__ import annotations

from pathlib import Path

import yaml

from ccu.recipes.collect import _made_from
from ccu.runs.manifest import experiment_of
from ccu.scenarios.link_config import copy_scenario
from ccu.scenarios.resolve import resolve
from ddu.run.manifest import write_json

PLAYED = {
    "schema": "rf-scenario/1",
    "name": "mine",
    "summary": "Rates of a trace.",
    "sources": ["chosen"],
    "license": "Apache-2.0",
    "duration_s": 2,
    "at_end": "loop",
    "capacity": {
        way: {"trace": {"file": "mine.txt", "format": "seconds_mbps"}} for way in ("dl", "ul")
    },
}


def run_of(folder: Path, **keys: object) -> Path:
    run = folder / "run"
    (run / "raw").mkdir(parents=True)
    experiment = resolve({"testbed": "virtual", "duration": "2s", **keys})
    write_json(run / "run.json", {"schema_version": 1, "experiment": experiment.record()})
    return run


def test_a_run_keeps_its_trace_when_the_users_changes(tmp_path: Path) -> None:
    scenario, trace = tmp_path / "mine.yaml", tmp_path / "mine.txt"
    scenario.write_text(yaml.safe_dump(PLAYED))
    trace.write_text("0 50\n1 50\n")
    run = run_of(tmp_path, cc="cubic", scenario=str(scenario))
    copy_scenario(scenario, run / "raw")
    assert experiment_of(run).scenario == str(scenario)
    trace.write_text("0 1\n1 1\n")
    assert experiment_of(run).scenario == str(run / "raw/scenario.yaml")


def test_a_run_keeps_files_that_are_parameters(tmp_path: Path) -> None:
    policy, weights = tmp_path / "mine.py", tmp_path / "weights.json"
    policy.write_text("class Policy: pass\n")
    weights.write_text("{}")
    change = {"at": "1s", "cc": str(policy)}
    run = run_of(
        tmp_path, cc=str(policy), cc_params={"weights": str(weights), "mode": "a"}, changes=[change]
    )
    assert experiment_of(run).cc_params == {"weights": str(weights), "mode": "a"}
    kept = run / "raw/cc-mine-weights.json"
    kept.write_text("{}")
    (run / "raw/cc-mine.py").touch()
    experiment = experiment_of(run)
    assert experiment.stages[1].experiment.flows[0].cc_file == str(run / "raw/cc-mine.py")
    assert experiment.stages[1].experiment.cc == "mine"
    assert experiment.cc_params == {"weights": str(kept), "mode": "a"}
    assert sorted(_made_from(run, experiment)) == ["cc-mine-weights.json", "cc-mine.py"]
