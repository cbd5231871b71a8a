# SPDX-License-Identifier: Apache-2.0
"""The disk space that a run takes, against what is expected before."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.host import disk
from ccu.runs.disk_space import most_bytes
from ccu.runs.run import run as run_experiment
from ccu.scenarios.play import experiment
from ccu.spec.errors import RunFailed
from ddu.run.manifest import read_manifest
from testsupport.runs import Runs


@pytest.mark.parametrize(
    ("scenario", "least_ratio"), [("constant-1G", 0.8), ("wifi-5", 0.8), ("static", 0.4)]
)
def test_a_run_writes_no_more_than_expected(
    experiments: Runs, scenario: str, least_ratio: float
) -> None:
    """Not much less either where the scenario gives the capacity, which the radio's channel does
    not."""
    run = experiments("--cc", "bbr", "--scenario", scenario, "--duration", "5s")
    written_bytes = sum(file.stat().st_size for file in (run / "raw").rglob("*") if file.is_file())
    expected_bytes = most_bytes(experiment(scenario, {"duration": "5s", "testbed": "virtual"}))
    assert least_ratio < written_bytes / expected_bytes <= 1.0


def test_a_run_ends_before_the_disk_is_full(
    kernel: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ccu.runs.disk_space.check", lambda *_: None)
    monkeypatch.setattr(disk, "free_bytes", lambda _folder: 10 * 2**20)
    flags = {"testbed": "virtual", "duration": "1000s", "cc": "cubic"}
    with pytest.raises(RunFailed, match="only 10 MB are free on the disk of"):
        run_experiment(experiment("static", flags), tmp_path, lambda _stage, _share: None)
    (run,) = tmp_path.iterdir()
    manifest = read_manifest(run)
    assert manifest.failure is not None
    assert (manifest.status, manifest.failure.stage) == ("failed", "disk")
