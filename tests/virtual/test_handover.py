# SPDX-License-Identifier: Apache-2.0
"""TCP over the handovers of a drive, in virtual time: they take place, and the parts of each
packet's delay add up to what the captures show, also of packets that crossed Xn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from testsupport.explained import check
from testsupport.prepared import command

DRIVE = "time,active interface,handover type\n0,SA 5G,unknown\n1,SA 5G,5t5\n2,4G,5t4\n"
KINDS: dict[str, dict[str, Any]] = {
    **{kind: {"kind": kind} for kind in ("a3", "cho", "daps", "ltm")},
    "a3 without forwarding": {"kind": "a3", "forwarding": False},
}


@pytest.mark.parametrize("name", KINDS)
def test_a_drive_is_driven_and_each_delay_explained(
    kernel: Path, name: str, tmp_path: Path
) -> None:
    (tmp_path / "drive.csv").write_text(DRIVE)
    made = ("--name", "mine", "--output", str(tmp_path))
    imported = command("ccu", "scenario", "import", "drive", str(tmp_path / "drive.csv"), *made)
    assert imported.returncode == 0, imported.stderr
    experiment = {
        "cc": "cubic", "direction": "bidir", "prb": 24, "duration": "3s", "explain": True,
        "testbed": "virtual", "scenario": str(tmp_path / "mine.yaml"), "handover": KINDS[name],
    }  # fmt: skip
    (tmp_path / "mine.experiment.yaml").write_text(yaml.safe_dump(experiment))
    given = ("-f", str(tmp_path / "mine.experiment.yaml"), "--output", str(tmp_path / "runs"))
    ran = command("ccu", "run", *given)
    assert ran.returncode == 0, ran.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert check(run) > 1000
    lines = (run / "raw" / "radio-events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    complete = [one for one in events if one["kind"] == "handover_complete"]
    assert [(one["cell"], one["target"]) for one in complete] == [(2, 3), (3, 0)]
    forwarded = [one for one in events if one["kind"] == "data_forwarded"]
    discards = any(one["discarded_bytes"] > 0 for one in forwarded)
    assert discards == (name == "a3 without forwarding")
