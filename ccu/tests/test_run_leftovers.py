# SPDX-License-Identifier: Apache-2.0
"""Each run says at its end what it could not remove, whether it failed or finished, and leaves no
directory without run.json."""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from ccu.host import resources
from ccu.host.resources import Resource
from ccu.runs import run as runs
from ccu.scenarios.play import experiment
from ccu.spec.errors import Interrupted, RunFailed
from ccu.testbeds import Site
from testsupport.interrupted_removal import Slow


@dataclass(frozen=True)
class Stubborn:
    """A resource that something else holds."""

    kind: ClassVar[str] = "stubborn"
    name: str

    def remove(self) -> list[str]:
        raise OSError("in use")


SENTENCE = "not removed: stubborn network: in use"


def carry_out(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fails: bool,
    is_known: bool,
    made: Sequence[Resource] = (Stubborn("network"),),
) -> None:
    def perform(site: Site, record: runs.Manifest, report: runs.Listener) -> None:
        site.supervisor.check()
        site.resources.register(*made)
        if fails:
            raise RunFailed("gnb", "the container gnb ended")
        record.write(verdict="valid", verdict_reasons=[SENTENCE] if is_known else [])

    (folder / "records").mkdir()
    monkeypatch.setattr(resources, "FOLDER", folder / "records")
    monkeypatch.setattr(runs, "_perform", perform)
    monkeypatch.setattr(runs, "check", lambda *_: folder)
    monkeypatch.setattr(runs, "try_out", lambda _: None)
    flags = {"testbed": "virtual", "cc": "cubic"}
    runs.run(experiment("static", flags), folder / "runs", lambda *_: None)


def test_a_failed_run_says_what_it_could_not_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RunFailed) as failed:
        carry_out(tmp_path, monkeypatch, fails=True, is_known=False)
    (directory,) = (tmp_path / "runs").iterdir()
    assert str(failed.value) == f"gnb: the container gnb ended\nits logs are kept in {directory}"
    assert capsys.readouterr().err == f"ccu: {SENTENCE}; `ccu clean` tries it again\n"


@pytest.mark.parametrize("is_known", [False, True])
def test_a_finished_run_says_what_its_verdict_does_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_known: bool,
) -> None:
    carry_out(tmp_path, monkeypatch, fails=False, is_known=is_known)
    assert (SENTENCE in capsys.readouterr().err) is not is_known


def test_a_run_whose_record_cannot_be_written_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/run is a file system of its own, which may be full where the disk is not."""

    def full(_run_id: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/run/ccu/f00.json")

    monkeypatch.setattr(resources, "begin_record", full)
    with pytest.raises(OSError, match="No space left"):
        carry_out(tmp_path, monkeypatch, fails=False, is_known=True)
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_signal_during_the_removal_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Users press Ctrl-C again where the first one takes some time."""
    files = [tmp_path / name for name in ("container", "network")]
    for file in files:
        file.touch()
    ended = RunFailed if fails else Interrupted
    made = [Slow(str(file), signal.SIGINT) for file in files]
    with pytest.raises(ended) as error:
        carry_out(tmp_path, monkeypatch, fails=fails, is_known=True, made=made)
    assert [file for file in files if file.exists()] == []
    assert not list((tmp_path / "records").glob("*.json"))
    (directory,) = (tmp_path / "runs").iterdir()
    status = json.loads((directory / "run.json").read_text())["status"]
    assert status == ("failed" if fails else "finished")
    assert fails or str(error.value).endswith(f"the run is complete: {directory}")


def test_a_signal_in_the_first_moment_of_a_directory_leaves_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_directory(directory: Path) -> None:
        made(directory)
        signal.raise_signal(signal.SIGINT)

    made, before = runs.make_directory, signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(runs, "make_directory", make_directory)
    with pytest.raises((Interrupted, KeyboardInterrupt)):
        carry_out(tmp_path, monkeypatch, fails=False, is_known=True)
    assert signal.getsignal(signal.SIGINT) is before
    assert not list((tmp_path / "records").glob("*.json"))
    (directory,) = (tmp_path / "runs").iterdir()
    assert json.loads((directory / "run.json").read_text())["status"] == "interrupted"
