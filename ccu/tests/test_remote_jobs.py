# SPDX-License-Identifier: Apache-2.0
"""Jobs of a worker that does not share the client's storage."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ccu.campaigns.engines import remote
from ccu.campaigns.engines.job import Ended, Job
from ccu.runs import run as runs
from ccu.scenarios.play import experiment

CELL = "cc=cubic,seed=1"


def test_a_second_attempt_of_a_second_has_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has the first already, and renaming onto it would end the campaign."""
    wanted = experiment("static", {"testbed": "virtual", "cc": "cubic"})
    monkeypatch.setattr(runs.time, "strftime", lambda *_: "20261127T120000Z")

    def attempt(job: Job) -> Ended:
        (runs._make_directory(job.experiment, job.output) / "run.json").touch()
        return Ended()

    monkeypatch.setattr(remote, "_perform", attempt)
    monkeypatch.setattr(remote.Folder, "make", lambda *_: None)
    campaign: Any = SimpleNamespace()
    names: list[str] = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        job = remote.RemoteJob(
            Job(wanted, tmp_path / CELL, "raw"),
            taken=tuple(names),
            campaign=campaign,
            token="",
            software="",
            testbeds={},
        )
        done = remote._perform_and_pack(job, folder)
        with tarfile.open(fileobj=io.BytesIO(done.archive)) as packed:
            names += [one for one in packed.getnames() if "/" not in one]
    assert names == ["20261127T120000Z-cubic-dl-106prb-static" + end for end in ("", "-2")]


@pytest.mark.parametrize(
    ("testbed", "held"), [("rfsim", ("OpenAirInterface", 1)), ("emulated", ("emulated", 2))]
)
def test_a_machine_with_two_testbeds_has_one_openairinterface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, testbed: str, held: tuple[str, int]
) -> None:
    """Its containers have the same addresses in each run."""
    locked: list[tuple[str, int]] = []

    def hold(lock: str, _wait: bool, _report: object, count: int) -> Any:
        locked.append((lock, count))
        return nullcontext()

    monkeypatch.setattr(remote.slots, "held", hold)
    monkeypatch.setattr(remote, "software", lambda: "")
    monkeypatch.setattr(remote, "_perform", lambda _: Ended())
    campaign: Any = SimpleNamespace()
    wanted = experiment("static", {"testbed": testbed, "cc": "cubic", "prb": 106})
    job = Job(wanted, tmp_path, "raw")
    remote.perform(remote.RemoteJob(job, campaign, str(tmp_path), "", {remote.machine(): 2}))
    assert locked == [held]


class _Hanging:
    """A process whose run never ends; the clock shows what is waited for it."""

    def __init__(self, clock: list[float], said: list[str]) -> None:
        self.connection, self._clock, self._said = self, clock, said

    def begin(self, _job: Job) -> None:
        self._said.append(f"begun at {self._clock[-1]:g}")

    def poll(self, timeout_s: float) -> bool:
        self._clock.append(self._clock[-1] + timeout_s)
        return False

    def interrupt(self) -> None:
        self._said.append(f"interrupted at {self._clock[-1]:g}")

    def end(self) -> None:
        self._said.append("ended")


def test_a_run_has_its_time_from_its_turn_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may have its machine for longer than this one may take."""
    clock, said = [0.0], list[str]()

    @contextmanager
    def waiting(*_: object) -> Iterator[None]:
        clock.append(clock[-1] + 10_000)
        yield
        said.append("next")

    monkeypatch.setattr(remote.slots, "held", waiting)
    monkeypatch.setattr(remote.time, "monotonic", lambda: clock[-1])
    monkeypatch.setattr(remote, "software", lambda: "")
    monkeypatch.setattr(remote, "JobProcess", lambda: _Hanging(clock, said))
    wanted = experiment("static", {"testbed": "emulated", "cc": "cubic", "duration": "30s"})
    campaign: Any = SimpleNamespace()
    job = remote.RemoteJob(Job(wanted, tmp_path, "raw"), campaign, str(tmp_path), "", {})
    done = remote.perform(job)
    assert done.ended.error == "timed out on its worker after 213 s"
    assert said == ["begun at 10000", "interrupted at 10213", "ended", "next"]
