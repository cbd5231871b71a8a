# SPDX-License-Identifier: Apache-2.0
"""Runs along a measured drive of two handovers, and the events of their UEs' connections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from testsupport.prepared import command

DRIVE = "time,active interface,handover type\n0,SA 5G,unknown\n1,SA 5G,5t5\n2,4G,5t4\n"
HANDOVERS = [(2, 3), (3, 0)]
"""Source and target of each, at 1 s and at 2 s."""


def driven(folder: Path, **keys: Any) -> Path:
    """Return the directory of a run along the drive, of an experiment with these keys."""
    (folder / "drive.csv").write_text(DRIVE)
    made = ("--name", "mine", "--output", str(folder))
    imported = command("ccu", "scenario", "import", "drive", str(folder / "drive.csv"), *made)
    assert imported.returncode == 0, imported.stderr
    experiment = {
        "cc": "cubic", "direction": "bidir", "prb": 24, "duration": "3s",
        "scenario": str(folder / "mine.yaml"), **keys,
    }  # fmt: skip
    (folder / "mine.experiment.yaml").write_text(yaml.safe_dump(experiment))
    given = ("-f", str(folder / "mine.experiment.yaml"), "--output", str(folder / "runs"))
    ran = command("ccu", "run", "--no-report", *given)
    assert ran.returncode == 0, ran.stderr
    (run,) = (folder / "runs").iterdir()
    return run


def events(run: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind, in order of time."""
    lines = (run / "raw" / "radio-events.jsonl").read_text().splitlines()
    return [one for one in map(json.loads, lines) if one["kind"] == kind]


def handovers(run: Path, ue: int) -> list[tuple[int, int]]:
    """Return source and target of the handovers that a UE completed."""
    complete = [one for one in events(run, "handover_complete") if one["ue"] == ue]
    return [(one["cell"], one["target"]) for one in complete]
