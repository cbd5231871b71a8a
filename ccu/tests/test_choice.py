# SPDX-License-Identifier: Apache-2.0
"""The choice that experiments leave to the machine: whether rfsim runs in lockstep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from ccu.campaigns import definition, testbed
from ccu.campaigns.folder import Folder
from ccu.cli import doctor
from ccu.cli.main import app
from ccu.host.findings import Finding
from ccu.scenarios.resolve import resolve
from ccu.testbeds.choice import Choice, choose
from ccu.testbeds.oai.driver import OaiDriver
from ccu.testbeds.oai.lockstep.driver import LockstepDriver
from ddu.campaign.definition import Campaign
from ddu.console.problems import refusal

RFSIM = {"testbed": "rfsim", "cc": "cubic"}


def chosen(said: Mapping[str, Any]) -> list[Choice]:
    return choose(said, lambda more: [resolve({**said, **more})])


class Machine:
    """The reasons why this machine refuses; empty: none."""

    containers = ""
    kernel = ""


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()

    def check_containers(*_: object) -> None:
        if made.containers:
            raise refusal(made.containers, "install it")

    def check_both(*_: object) -> None:
        check_containers()
        if made.kernel:
            raise refusal(made.kernel, "make kernel")

    monkeypatch.setattr(OaiDriver, "check_machine", check_containers)
    monkeypatch.setattr(LockstepDriver, "check_machine", check_both)
    return made


@pytest.mark.parametrize("runtime", ["docker", "lxc"])
def test_rfsim_runs_in_lockstep_where_the_machine_can(machine: Machine, runtime: str) -> None:
    (choice,) = chosen(RFSIM | {"runtime": runtime})
    assert (choice.key, choice.value, choice.notice) == ("lockstep", True, "")
    machine.kernel = "no kernel"
    (choice,) = chosen(RFSIM)
    assert choice.value is False
    assert choice.notice == "lockstep false, not true: no kernel. Make kernel"


def test_what_cannot_be_in_lockstep_runs_in_wall_time(machine: Machine) -> None:
    (choice,) = chosen(RFSIM | {"ues": 5})
    assert choice.value is False
    assert choice.notice == "lockstep false, not true: 5: in lockstep there are at most 4 UEs"


def test_what_cannot_run_at_all_has_its_own_refusal_only(machine: Machine) -> None:
    machine.containers = "no Docker"
    (choice,) = chosen(RFSIM)
    assert (choice.value, choice.notice) == (False, "")
    # ccu doctor cannot say what a run would take before it can begin.
    assert doctor._default(choice) == Finding(
        "default lockstep", False, "not known", "do what stands beside each ✗", needed=False
    )
    machine.containers = ""
    (choice,) = chosen(RFSIM | {"rtt": "soon"})
    assert (choice.value, choice.notice) == (False, "")


@pytest.mark.parametrize(
    "said",
    [
        RFSIM | {"lockstep": False},
        RFSIM | {"lockstep": True},
        RFSIM | {"oai": {"lockstep": False}},
        {"testbed": "usrp", "usrp": "b210", "cc": "cubic"},
        {"testbed": None, "cc": "cubic"},
        {"testbed": "no such", "cc": "cubic"},
    ],
)
def test_what_is_said_is_not_chosen(machine: Machine, said: dict[str, Any]) -> None:
    assert chosen(said) == []


def campaign(folder: Path, text: str) -> Campaign:
    file = folder / "a.yaml"
    file.write_text(f"title: A\n{text}")
    return definition.read(file, None)


def test_a_campaign_keeps_what_it_has_begun_with(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = campaign(tmp_path, "base: {testbed: rfsim}\nfactors: {cc: [cubic, reno]}\n")
    machine.kernel = "no kernel"
    begun, (notice,) = testbed.on_a_testbed(asked, tmp_path)
    assert begun.base["lockstep"] is False
    assert "no kernel" in notice
    machine.kernel = ""
    assert testbed.on_a_testbed(asked, tmp_path)[0].base["lockstep"] is True

    (tmp_path / "campaign.json").touch()
    opened = SimpleNamespace(campaign=begun)
    monkeypatch.setattr(Folder, "open", lambda _: opened)
    assert testbed.on_a_testbed(asked, tmp_path) == (begun, [])


def test_a_campaign_over_two_testbeds_says_its_options_itself(
    machine: Machine, tmp_path: Path
) -> None:
    asked = campaign(tmp_path, "base: {cc: cubic}\nfactors: {testbed: [virtual, rfsim]}\n")
    assert testbed.on_a_testbed(asked, tmp_path) == (asked, [])


def test_a_plan_of_several_campaigns_says_once_what_is_not_as_preferred(
    machine: Machine, tmp_path: Path
) -> None:
    machine.kernel = "no kernel"
    files = [tmp_path / f"{name}.yaml" for name in ("first", "second")]
    for file in files:
        file.write_text("title: x\nbase: {testbed: rfsim}\nfactors: {cc: [cubic, reno]}\n")
    words = ["campaign", "plan", "--output", str(tmp_path), *map(str, files)]
    ran = CliRunner().invoke(app, words)
    assert ran.stderr == "ccu: lockstep false, not true: no kernel. Make kernel\n"
