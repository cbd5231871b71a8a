# SPDX-License-Identifier: Apache-2.0
"""A run that the disk does not let be reduced keeps its raw data, and the reason is said."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.campaigns import keeping
from ccu.campaigns.analyst import Analyst
from ddu.cli.main import app

GOLDEN = Path(__file__).parents[2] / "tests" / "golden_runs" / "phone-uplink"


def test_a_disk_that_refuses_leaves_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(GOLDEN / "run.json", run)
    shutil.copytree(GOLDEN / "raw", run / "raw")
    assert CliRunner().invoke(app, ["analyze", "--no-report", str(run)]).exit_code == 0
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    reason = keeping.reduce(run, "tables", Analyst())
    assert reason == "its raw data stay, as the disk refuses: Input/output error"
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
