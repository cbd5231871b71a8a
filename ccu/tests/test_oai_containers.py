# SPDX-License-Identifier: Apache-2.0
"""Containers of OpenAirInterface as people and machines meet them; Docker's answers are given."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ccu.host import programs
from ccu.host.findings import Finding
from ccu.host.supervisor import Supervisor
from ccu.host.testbed_logs import LogDirectory
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import Interrupted, RunFailed
from ccu.testbeds.oai import docker, docker_runtime, doctor, lxc_resources, testbed
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.docker_runtime import ComposeProject, DockerRuntime
from ccu.testbeds.oai.lxc_resources import LxcContainer
from ccu.testbeds.oai.stack import Stack
from ddu.console.problems import RefusedError
from testsupport.waiting import until


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> DockerRuntime:
    monkeypatch.setattr(docker, "command", lambda: ["docker"])
    return DockerRuntime("ccu-x", [], "rfsim", {})


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        ("true 0 false", None),
        ("", None),
        ("false 1 false", "ended with code 1"),
        ("false 137 false", "was killed by SIGKILL"),
        ("false 139 false", "was killed by SIGSEGV"),
        ("false 137 true", "was killed by SIGKILL, as its memory was used up"),
        ("false 255 false", "ended with code 255"),
    ],
)
def test_the_end_of_a_container_is_that_of_its_process(
    answer: str, ended: str | None, runtime: DockerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_runtime, "_answer", lambda *_: answer)
    assert runtime.how_it_ended("gnb") == ended


def test_a_run_states_how_a_container_ended_and_not_how_its_log_did(tmp_path: Path) -> None:
    owned: Any = SimpleNamespace(register=lambda *_: None)
    supervisor = Supervisor(owned, tmp_path)
    process = supervisor.start("oai-gnb", ["true"], stage="radio")
    process.how_it_ended = lambda: "was killed by SIGKILL"
    until(lambda: process.ended)
    with pytest.raises(RunFailed, match="oai-gnb was killed by SIGKILL"):
        supervisor.check()


class Ended:
    """A runtime whose containers have ended, and which starts none."""

    def pid(self, _: str) -> None:
        return None

    def log_command(self, _: str) -> list[str]:
        return ["sh", "-c", "sleep 0.3; echo the gNB dies"]

    def how_it_ended(self, _: str) -> str:
        return "ended"

    def start(self, _: object) -> None:
        raise RunFailed("containers", "lxc-create: ")


@pytest.fixture
def ended(tmp_path: Path) -> tuple[Stack, Supervisor]:
    owned: Any = SimpleNamespace(register=lambda *_: None)
    supervisor = Supervisor(owned, tmp_path)
    plan = Plan("2026.w11", carrier(24), core="none")
    runtime: Any = Ended()
    return Stack(plan, runtime, supervisor, owned, tmp_path), supervisor


def test_a_gnb_that_has_ended_is_reported_when_its_log_is_read(
    ended: tuple[Stack, Supervisor],
) -> None:
    stack, _ = ended
    for service in ("gnb", "ue1"):
        stack._follow(service, f"{service}.log")
    with pytest.raises(RunFailed, match="oai-gnb ended: the gNB dies"):
        stack.check_radio()


def test_a_network_that_is_gone_is_explained_by_the_end_of_its_container(
    ended: tuple[Stack, Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    stack, _ = ended
    monkeypatch.setattr("ccu.testbeds.oai.stack._FOLLOWER_S", 0)
    monkeypatch.setattr(Ended, "pid", lambda *_: 1)
    with pytest.raises(RunFailed, match="is gone: No such device"), stack.in_networks():
        raise OSError("No such device")
    monkeypatch.undo()
    for service in ("gnb", "ue1"):
        stack._follow(service, f"{service}.log")
    with pytest.raises(RunFailed, match="oai-gnb ended: the gNB dies"), stack.in_networks():
        [][0]  # as a look-up of a device that is gone


def test_ctrl_c_is_the_cause_where_it_ends_the_start_of_containers(
    ended: tuple[Stack, Supervisor],
) -> None:
    stack, supervisor = ended
    with pytest.raises(RunFailed, match="lxc-create"):
        stack.up()
    supervisor.interrupt("SIGINT")
    with pytest.raises(Interrupted, match="interrupted by SIGINT"):
        stack.up()


def test_all_followers_of_the_gnb_end_where_one_cannot() -> None:
    """One that goes on would ask Docker for a container that is gone, ten times a second."""
    ended: list[str] = []

    def full() -> list[str]:
        raise OSError("No space left on device")

    made = testbed.OaiTestbed.__new__(testbed.OaiTestbed)
    parts = {name: SimpleNamespace(finish=lambda name=name: ended.append(name))
             for name in ("files", "n3", "statistics")}  # fmt: skip
    parts["control"] = SimpleNamespace(finish=full)
    made.__dict__ |= {f"_{name}": part for name, part in parts.items()}
    made.__dict__ |= {"_ended": False, "_problems": []}
    with pytest.raises(OSError, match="No space left"):
        made.end()
    assert sorted(ended) == ["files", "n3", "statistics"]


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, str], None]:
    """Programs of the test's own, before all others on PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return make


def test_ctrl_c_does_not_reach_the_commands_that_look_and_remove(
    commands: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A terminal sends it to all of its session: the removal of containers would break off."""
    monkeypatch.setattr(docker, "command", lambda: ["docker"])
    monkeypatch.setattr(lxc_resources, "FOLDER", tmp_path)
    (tmp_path / "ccu-x").mkdir()
    seen = tmp_path / "sessions"
    for name in ("docker", "lxc-stop", "lxc-info"):
        commands(name, f"cut -d' ' -f6 /proc/$$/stat >>{seen}; exit 1")
    with pytest.raises(RunFailed):
        ComposeProject("ccu-x").remove()
    LxcContainer("ccu-x").remove()
    sessions = list(map(int, seen.read_text().split()))
    assert len(set(sessions)) == 3
    assert os.getsid(0) not in sessions


def test_a_container_that_still_runs_is_not_forgotten(
    commands: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would run on without its folder, where nobody would find it."""
    monkeypatch.setattr(lxc_resources, "FOLDER", tmp_path)
    folder = tmp_path / "ccu-x"
    folder.mkdir()
    commands("lxc-stop", "echo 'lxc-stop: failed to kill' >&2; exit 1")
    commands("lxc-info", "echo 4711")
    with pytest.raises(OSError, match="failed to kill"):
        LxcContainer("ccu-x").remove()
    assert folder.exists()
    commands("lxc-info", "echo -1; exit 1")
    assert LxcContainer("ccu-x").remove() == ["removed container ccu-x"]
    assert not folder.exists()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_shell_without_a_terminal_asks_for_none(
    terminal: bool, runtime: DockerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.StringIO()
    monkeypatch.setattr(stdin, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stdin", stdin)
    words = runtime.shell_command("gnb")
    assert "-i" in words
    assert ("-t" in words) is terminal


def test_a_run_beside_a_testbed_is_refused_before_it_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def record(abandoned: bool, *items: object) -> Any:
        return SimpleNamespace(abandoned=abandoned, of=lambda _: list(items))

    experiment = resolve({"testbed": "rfsim", "cc": "cubic"})
    monkeypatch.setattr(programs, "require", lambda name: name)
    up = record(False, LogDirectory("/x"))
    monkeypatch.setattr(testbed, "readable_records", lambda: [record(False), up])
    with pytest.raises(RefusedError, match="a testbed is up") as refused:
        testbed.check_machine(experiment)
    assert "ccu testbed down" in str(refused.value)
    # One that ended without its cleanup stands in no way: `ccu run` removes it.
    monkeypatch.setattr(testbed, "readable_records", lambda: [record(True, LogDirectory("/x"))])
    testbed._refuse_beside_another()


@pytest.mark.parametrize("lockstep", [True, False])
def test_doctor_looks_for_netem_where_it_delays_and_for_cores_where_modems_take_turns(
    lockstep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_compose", lambda: Finding("compose", True, ""))
    monkeypatch.setattr(doctor, "_daemon", lambda: Finding("docker", True, ""))
    monkeypatch.setattr(doctor, "images_check", lambda _: lambda: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    asked = {"testbed": "rfsim", "cc": "cubic", "lockstep": lockstep, "ues": 3}
    findings = {one.name: one for one in doctor.examine(resolve(asked))}
    assert ("netem" in findings) is not lockstep
    assert ("cores" in findings) is lockstep
    if lockstep:
        assert not findings["cores"].ok
        assert "3 UEs in lockstep need 2 cores" in findings["cores"].detail
