# SPDX-License-Identifier: Apache-2.0
"""A run that cannot be reduced keeps its raw data, and the reason is said."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.campaigns import keeping
from ccu.campaigns.analyst import Analyst
from ddu.campaign.definition import Keep
from ddu.cli.main import app
from ddu.run import memory
from ddu.run.integrity import described, regular_files
from ddu.run.manifest import read_content, write_manifest

GOLDEN = Path(__file__).parents[2] / "tests" / "golden_runs" / "phone-uplink"


def test_a_disk_that_refuses_leaves_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = analysed(tmp_path / "run")
    before = contents(run)

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    reason = keeping.reduce(run, "tables", Analyst())
    assert reason == "its raw data stay, as the disk refuses: Input/output error"
    assert contents(run) == before


def test_a_run_that_memory_has_no_room_for_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = analysed(tmp_path / "run")
    shutil.rmtree(run / "tables")
    before = contents(run)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e6)
    reason = keeping.reduce(run, "tables", Analyst())
    assert reason is not None
    assert reason.startswith(f"its raw data stay: {run}: the analysis may need 0.2 GB of memory")
    assert contents(run) == before


@pytest.mark.parametrize("keep", ["tables", "summary"])
def test_a_run_whose_manifest_was_changed_keeps_everything(tmp_path: Path, keep: Keep) -> None:
    """Else the change would be sealed as true, and what shows the truth would be gone."""
    run = analysed(tmp_path / "run")
    file = run / "run.json"
    content = json.loads(file.read_text())
    content["experiment"]["cc"] = "reminis"
    file.write_text(json.dumps(content))
    before = contents(run)
    reason = keeping.reduce(run, keep, Analyst())
    assert reason is not None
    assert reason.startswith(f"its raw data stay: {file}: was changed after it was written.")
    assert contents(run) == before


def analysed(run: Path) -> Path:
    run.mkdir()
    shutil.copy(GOLDEN / "run.json", run)
    shutil.copytree(GOLDEN / "raw", run / "raw")
    write_manifest(run, read_content(run), described(run, regular_files(run / "raw")))
    assert CliRunner().invoke(app, ["analyze", "--no-report", str(run)]).exit_code == 0
    return run


def contents(run: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
