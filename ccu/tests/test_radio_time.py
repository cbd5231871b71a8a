# SPDX-License-Identifier: Apache-2.0
"""The pace of the radio's time: as recorded, in `ccu doctor --prb`, and before a campaign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu import traffic
from ccu.campaigns import definition, runner
from ccu.campaigns.folder import Folder
from ccu.cli import doctor
from ccu.cli import main as cli
from ccu.host.findings import Finding
from ccu.runs import trial
from ccu.scenarios.play import experiment
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds.oai.radio_clock import HEADER, recorded_factor
from ddu.console.problems import RefusedError

CAMPAIGN = """
name: pace
title: Radio time
base: {testbed: TESTBED, duration: 5s}
factors: {cc: [cubic, reno], prb: [24, 106]}
min_radio_time_factor: 0.5
"""


def campaign(tmp_path: Path, testbed: str = "rfsim") -> runner.Work:
    file = tmp_path / "pace.yaml"
    file.write_text(CAMPAIGN.replace("TESTBED", testbed))
    return runner.Work(Folder.make(tmp_path / "work", definition.read(file)), {"cubic", "reno"})


def test_the_recorded_factor_is_the_radios_progress_over_the_clocks(tmp_path: Path) -> None:
    file = tmp_path / "radio-time.csv"
    # 1 s at real time, then 3 s in which 0.6 s passed: 1.6 s in 4 s.
    rows = ("0,1000000000,1.0,1.0", "1000000000,3000000000,1.6,0.2")
    file.write_text("\n".join((HEADER, *rows)) + "\n")
    assert recorded_factor(file) == pytest.approx(0.4)
    file.write_text(HEADER + "\n")
    assert recorded_factor(file) is None
    assert recorded_factor(tmp_path / "none.csv") is None


def test_a_campaign_says_whether_the_machine_is_fast_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factors = {24: 0.78, 106: 0.31}
    measured = []

    def measure(experiment: object) -> float:
        prb = experiment.prb  # type: ignore[attr-defined]
        measured.append(prb)
        return factors[prb]

    monkeypatch.setattr(trial, "radio_time_factor", measure)
    said: list[str] = []
    with pytest.raises(RefusedError) as refused:
        runner.check_radio_time(campaign(tmp_path), said.append)
    # Once for each width, not for each congestion control.
    assert sorted(measured) == [24, 106]
    assert any("0.78 of real time, at least 0.5" in line for line in said)
    (problem,) = refused.value.problems
    assert "0.31 of real time" in problem.rule
    assert "pace.yaml:6" in str(problem)
    factors[106] = 0.6
    (again := tmp_path / "again").mkdir()
    runner.check_radio_time(campaign(again), said.append)


def test_a_testbed_in_real_time_needs_no_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "radio_time_factor", lambda _: pytest.fail("a trial was made"))
    runner.check_radio_time(campaign(tmp_path, "emulated"), lambda _: None)


@pytest.mark.parametrize(("factor", "ok"), [(0.43, False), (0.97, True)])
def test_doctor_measures_the_factor_at_a_width(
    monkeypatch: pytest.MonkeyPatch, factor: float, ok: bool
) -> None:
    finding = _radio_time(monkeypatch, lambda _: factor, [])
    assert finding["ok"] is ok
    assert f"{factor:.2f} of real time" in str(finding["detail"])


def test_doctor_makes_no_trial_where_runs_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [Finding("docker", False, "not found", "install it")]
    finding = _radio_time(monkeypatch, lambda _: pytest.fail("a trial was made"), missing)
    assert finding["detail"] == "not measured"


def test_doctor_reports_a_trial_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> float:
        raise RunFailed("attach", "UE 1 did not attach")

    assert "UE 1 did not attach" in str(_radio_time(monkeypatch, fail, [])["detail"])


def _radio_time(
    monkeypatch: pytest.MonkeyPatch, measure: object, others: list[Finding]
) -> dict[str, object]:
    from ccu.testbeds.oai.driver import OaiDriver

    monkeypatch.setattr(trial, "radio_time_factor", measure)
    monkeypatch.setattr(doctor, "examine", lambda _output, _driver: others)
    monkeypatch.setattr(OaiDriver, "examine", lambda _self, _experiment: [])
    words = ["doctor", "--json", "--testbed", "rfsim", "--prb", "24"]
    *_, finding = json.loads(CliRunner().invoke(cli.app, words).output)
    assert finding["name"] == "radio time at 24 PRB"
    result: dict[str, object] = finding
    return result


def test_a_failed_trial_does_not_name_its_directory_which_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_experiment: object, output: Path, _report: object) -> Path:
        failed = RunFailed("attach", "UE 1 did not attach")
        failed.directory = output / "run"
        raise failed

    monkeypatch.setattr(trial, "run", fail)
    tried = experiment("static", {"testbed": "rfsim", "cc": "cubic", "prb": 24})
    with pytest.raises(RunFailed) as failed:
        trial.radio_time_factor(tried)
    assert str(failed.value) == "attach: UE 1 did not attach"


def test_a_trial_has_all_flows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that starts after 10 s had -5 s left, which iperf3 refuses."""
    tried: list[Experiment] = []

    def note(experiment: Experiment, output: Path, _report: object) -> Path:
        tried.append(experiment)
        raise RunFailed("attach", "enough")

    monkeypatch.setattr(trial, "run", note)
    flags = {"testbed": "rfsim", "flows": "cubic@0,reno@15", "prb": 24, "duration": "30s"}
    flags |= {"traffic": "tcp:1GB"}  # which 10 s do not carry
    with pytest.raises(RunFailed):
        trial.radio_time_factor(resolve(flags))
    (short,) = tried
    assert short.traffic.most_bytes is None
    assert [(one.start_s, one.duration_s) for one in traffic.plan(short)] == [(0, 10), (0, 10)]
