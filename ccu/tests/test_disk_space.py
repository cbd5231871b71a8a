# SPDX-License-Identifier: Apache-2.0
"""The refusal of a run that would fill the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.host import disk
from ccu.runs import disk_space
from ccu.scenarios.play import experiment
from ddu.console.problems import RefusedError

FREE_BYTES = 19 * 10**8


@pytest.fixture
def _small_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccu.host.disk.free_bytes", lambda _folder: FREE_BYTES)


@pytest.mark.usefixtures("_small_disk")
def test_a_gigabit_link_needs_more_than_the_radio_of_its_prbs(tmp_path: Path) -> None:
    """60 s of 1 Gbit/s are 5 million packets, of which 372 bytes each are kept."""
    flags = {"duration": "60s", "seed": 1}
    disk_space.check(experiment("static", flags), tmp_path)
    with pytest.raises(RefusedError, match=r"has 1\.9 GB free, and the run may write up to"):
        disk_space.check(experiment("constant-1G", flags), tmp_path)
    disk_space.check(experiment("constant-1G", flags | {"duration": "30s"}), tmp_path)


@pytest.mark.usefixtures("_small_disk")
def test_without_captures_it_fits(tmp_path: Path) -> None:
    flags = {"duration": "600s", "capture": False}
    disk_space.check(experiment("constant-1G", flags), tmp_path)


@pytest.mark.usefixtures("_small_disk")
def test_a_scenario_that_cannot_be_played_is_not_refused_here(tmp_path: Path) -> None:
    planned = experiment("static", {"duration": "10s"})
    disk_space.check(planned.model_copy(update={"scenario": "nowhere"}), tmp_path)


def test_what_is_free_in_memory_is_what_programs_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "available_bytes", lambda: 12.0)
    assert disk.free_bytes(Path("/dev/shm")) == 12
    monkeypatch.setattr(disk, "_is_in_memory", lambda _device: False)
    assert disk.free_bytes(tmp_path) > 12
