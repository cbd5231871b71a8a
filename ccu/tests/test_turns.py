# SPDX-License-Identifier: Apache-2.0
"""A run on a testbed that this machine can have only once waits for the one that is going."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ccu.campaigns.runner import Work, locks
from ccu.cli import campaign
from ccu.cli.main import app
from ccu.host import resources, slots
from ccu.runs import manual, turn
from ccu.scenarios.play import experiment
from ccu.spec.experiment import Experiment
from ccu.testbeds.oai.driver import OaiDriver
from ddu.console.problems import RefusedError, refusal
from testsupport import nap_testbed
from testsupport.prepared import Started
from testsupport.waiting import until

HOLD = """
import sys, time
from pathlib import Path
from ccu.host import slots
slots.FOLDER = Path(sys.argv[1])
with slots.held(sys.argv[2], False, print):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(folder: Path, name: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has the machine's lock of that name until its stdin is closed."""
    words = [sys.executable, "-c", HOLD, str(folder), name]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()


def rfsim(testbed: str = "rfsim", **options: Any) -> Experiment:
    return experiment("static", {"testbed": testbed, "prb": 106, **options})


@pytest.mark.parametrize("options", [{}, {"lockstep": True}])
def test_a_run_waits_once_and_says_for_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    said: list[str] = []
    with held_elsewhere(tmp_path, "OpenAirInterface") as process:

        def say(line: str) -> None:
            said.append(line)
            assert process.stdin is not None
            process.stdin.close()

        with (
            turn.taken(rfsim(**options), tmp_path, say),
            pytest.raises(RefusedError, match=f"in use by process {os.getpid()}"),
            slots.held("OpenAirInterface", False, print),
        ):
            pass
    waits = f"waiting: testbed OpenAirInterface is in use by process {process.pid}"
    assert said == [f"{waits} (Ctrl-C aborts)"]


def test_campaigns_and_runs_of_one_stack_have_one_lock() -> None:
    """Containers over USRPs have the same addresses as those over rfsim."""

    class Planned(Work):
        def __init__(self, *experiments: Experiment) -> None:
            self.experiments = list(experiments)

        @property
        def of_points(self) -> list[Experiment]:
            return self.experiments

    planned = [rfsim(), rfsim(lockstep=True), rfsim("usrp", usrp="b210"), rfsim("emulated")]
    assert locks(Planned(*planned)) == ["OpenAirInterface", "emulated"]
    assert locks(Planned(rfsim("virtual"))) == []


def test_a_run_that_cannot_work_is_refused_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    with (
        held_elsewhere(tmp_path, "OpenAirInterface"),
        pytest.raises(RefusedError, match="takes 1 to"),
        turn.taken(rfsim(ues=60), tmp_path, pytest.fail),
    ):
        pass


def test_runs_of_other_testbeds_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "FOLDER", tmp_path / "locks")
    with turn.taken(rfsim("virtual"), tmp_path, pytest.fail):
        assert not (tmp_path / "locks").exists()


def test_a_testbed_started_manually_waits_for_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looks at the machine only when the run is over, which has the addresses until then."""
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    monkeypatch.setattr(resources, "FOLDER", tmp_path)
    events: list[str] = []
    monkeypatch.setattr(OaiDriver, "check_machine", lambda *_: events.append("looked"))
    monkeypatch.setattr(manual, "_start", lambda _: ["up"])
    with held_elsewhere(tmp_path, "OpenAirInterface") as process:

        def say(line: str) -> None:
            events.append(line)
            assert process.stdin is not None
            process.stdin.close()

        assert manual.up(rfsim(), say) == ["up"]
    assert "in use by process" in events[0]
    assert events[1:] == ["looked"]


@dataclass
class Planned:
    """A campaign over OpenAirInterface beside another run, and what happens when it begins."""

    file: Path
    events: list[str]
    other: subprocess.Popen[str]

    def run(self, *words: str, ues: int = 1) -> str:
        """Run it until it is refused, as it is at the latest by this machine; return why."""
        base = f"testbed: rfsim, lockstep: false, cc: cubic, ues: {ues}"
        self.file.write_text(f"title: x\nbase: {{{base}}}\nrepeats: 1\nfactors: {{prb: [106]}}\n")
        command = ["campaign", "run", str(self.file), "--output", str(self.file.parent), *words]
        refused = CliRunner().invoke(app, command).exception
        assert isinstance(refused, RefusedError)
        return str(refused)


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planned]:
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    monkeypatch.setattr(campaign, "need_root", lambda *_: None)
    with held_elsewhere(tmp_path, "OpenAirInterface") as other:
        one = Planned(tmp_path / "oai.yaml", [], other)

        def say(line: str) -> None:
            one.events.append(line)
            assert other.stdin is not None
            other.stdin.close()

        def look(*_: object) -> None:
            one.events.append("looked")
            raise refusal("this machine has no images")

        monkeypatch.setattr(campaign, "_say_that_it_waits", say)
        monkeypatch.setattr(OaiDriver, "check_machine", look)
        yield one


def test_a_campaign_looks_at_the_machine_when_it_has_its_turn(planned: Planned) -> None:
    """Until then, the run before it has the ports of its testbed."""
    assert "no images" in planned.run()
    assert "in use by process" in planned.events[0]
    assert planned.events[1:] == ["looked"]


def test_a_campaign_that_is_not_to_wait_is_refused_at_once(planned: Planned) -> None:
    assert f"in use by process {planned.other.pid}" in planned.run("--no-wait")
    assert planned.events == []


def test_a_campaign_that_cannot_work_is_refused_without_waiting(planned: Planned) -> None:
    assert "takes 1 to" in planned.run(ues=60)
    assert planned.events == []


def test_ctrl_c_while_a_run_waits_leaves_nothing(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(nap_testbed.install(tmp_path / "packages"))}
    output = tmp_path / "runs"
    with held_elsewhere(resources.FOLDER, nap_testbed.BED):
        words = ("run", "--testbed", "bed", "--cc", "cubic", "--duration", "1s", "--no-report")
        waiting = Started("ccu", *words, "--output", output, environment=environment)
        until(lambda: "waiting" in waiting.printed, waiting)
        waiting.send_signal(signal.SIGINT)
        ended = waiting.result()
        owners = [one.owner for one in resources.readable_records()]
        assert waiting.pid not in [owner.pid for owner in owners if owner]
    assert ended.returncode == 130
    (line,) = ended.stdout.splitlines()
    assert line.startswith(f"waiting: testbed {nap_testbed.BED} is in use by process ")
    assert not output.exists()
    done = Started("ccu", *words, "--output", output, environment=environment).result()
    assert done.returncode == 0, done.stderr
    assert "waiting" not in done.stdout


def test_the_runs_of_a_campaign_do_not_wait_for_it(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(nap_testbed.install(tmp_path / "packages"))}
    file = tmp_path / "beds.yaml"
    file.write_text("title: Beds\nbase: {testbed: bed, cc: cubic, duration: 1s}\nrepeats: 1\n"
                    "factors: {prb: [24, 106]}\n")  # fmt: skip
    words = ("campaign", "run", file, "--output", tmp_path)
    done = Started("ccu", *words, environment=environment).result(120)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("campaign-beds-*/runs/*/*/run.json"))) == 2
