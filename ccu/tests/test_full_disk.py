# SPDX-License-Identifier: Apache-2.0
"""A disk that becomes full during a run: run.json has the reason, and so has the user."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from ccu.host import disk, resources
from ccu.host.supervisor import Supervisor
from ccu.runs.manifest import Manifest, UnfinishedRun
from ccu.runs.run import _make_directory
from ccu.scenarios.play import experiment
from ccu.spec.errors import RunFailed
from ddu.errors import WriteFailed
from ddu.run.integrity import is_intact
from ddu.run.manifest import read_content
from testsupport.prepared import BIN

PROGRAM = BIN / "nr-link"


def _full(*_args: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Path, Manifest]:
    """A run that has begun, with what was on the disk then."""
    record = Manifest(tmp_path, experiment("static", {"duration": "1s"}))
    record.begin()
    return tmp_path, record


def test_the_last_run_json_has_space_of_its_own(
    begun: tuple[Path, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, record = begun
    monkeypatch.setattr("ddu.run.durable.write_text", _full)
    record.fail(status="failed", failure={"stage": "disk", "reason": "full"})
    content = read_content(run)
    assert (content["status"], content["failure"]["stage"]) == ("failed", "disk")
    assert is_intact(content)
    assert [one.name for one in run.iterdir()] == ["run.json"]


def test_a_killed_run_is_marked_on_a_full_disk(
    begun: tuple[Path, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = begun
    monkeypatch.setattr("ddu.run.durable.write_text", _full)
    assert UnfinishedRun(str(run)).remove() == [f"marked {run} as failed"]
    assert read_content(run)["status"] == "failed"
    assert [one.name for one in run.iterdir()] == ["run.json"]


def test_a_program_that_fails_on_a_full_disk_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "records")
    supervisor = Supervisor(resources.begin_record("full"), tmp_path)
    process = supervisor.start("false", ["false"], stage="capture")
    process.popen.wait()
    monkeypatch.setattr(disk, "free_bytes", lambda _folder: 0)
    with pytest.raises(RunFailed, match="only 0 B are free") as failed:
        supervisor.check()
    assert failed.value.stage == disk.STAGE


def test_a_run_that_finds_no_space_has_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccu.runs.run.make_directory", _full)
    with pytest.raises(WriteFailed, match=r"cannot be made .No space left") as failed:
        _make_directory(experiment("static", {"duration": "1s"}), tmp_path)
    assert failed.value.exit_code == 1


@pytest.mark.parametrize("words", [["list", "aqm"], ["list", "no"]])
def test_nr_link_does_not_panic_where_its_output_is_full(words: list[str]) -> None:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built (make build)")
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([PROGRAM, *words], stdout=full, stderr=full)
    assert ended.returncode in (1, 2)
