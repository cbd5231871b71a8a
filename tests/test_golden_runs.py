# SPDX-License-Identifier: Apache-2.0
"""Recorded runs give the tables that they gave when they were recorded (golden_runs/README.md)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

DDU = Path(sys.executable).with_name("ddu")
GOLDEN_RUNS = Path(__file__).with_name("golden_runs")
NAMES = sorted(manifest.parent.name for manifest in GOLDEN_RUNS.glob("*/run.json"))


@pytest.fixture(scope="module", params=NAMES)
def golden(request: pytest.FixtureRequest) -> Path:
    return GOLDEN_RUNS / str(request.param)


@pytest.fixture(scope="module")
def analysed(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what was recorded, analysed anew."""
    run = tmp_path_factory.mktemp(golden.name)
    shutil.copy(golden / "run.json", run)
    shutil.copytree(golden / "raw", run / "raw")
    ended = subprocess.run([DDU, "analyze", "--no-report", run], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return run


def check_same_csv(made: Path, golden: Path) -> None:
    """Byte for byte, line by line, so that a difference names its place."""
    lines = (path.read_bytes().splitlines(keepends=True) for path in (made, golden))
    for number, (ours, theirs) in enumerate(zip_longest(*lines), 1):
        assert ours == theirs, f"{golden.relative_to(GOLDEN_RUNS)}, line {number}"


def test_every_testbed_has_a_golden_run() -> None:
    assert {"emulated", "oai", "phone"} <= set(NAMES)


def test_the_tables_are_the_same(analysed: Path, golden: Path) -> None:
    made, kept = ({path.name for path in run.glob("tables/*.csv")} for run in (analysed, golden))
    assert made == kept
    for name in sorted(kept):
        check_same_csv(analysed / "tables" / name, golden / "tables" / name)


def test_the_summary_is_the_same(analysed: Path, golden: Path) -> None:
    # No field is left out: files are named relative to the run, and the versions under `software`
    # are those of the recording, which analysis copies from run.json.
    made, kept = (json.loads((run / "summary.json").read_text()) for run in (analysed, golden))
    assert made == kept
