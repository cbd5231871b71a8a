# SPDX-License-Identifier: Apache-2.0
"""The state of a campaign, read from its directory, whatever a crash has left in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ccu.campaigns import definition, stopping
from ccu.campaigns.cells import Cell, cells
from ccu.campaigns.display import by_factor, lines_of, matrix
from ccu.campaigns.folder import Folder
from ccu.campaigns.runner import Work, check
from ccu.campaigns.status import status_of
from ccu.campaigns.stopping import enough
from ccu.cli.main import app
from ccu.host import slots
from ccu.testbeds.virtual.driver import VirtualDriver
from ddu.campaign.definition import StopRule
from ddu.console.problems import RefusedError
from testsupport.summaries import write_summary

TEXT = "title: x\nbase: {duration: 2s}\nfactors: {cc: [cubic, reno]}\nrepeats: 3\nretries: 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    file = tmp_path / "try.yaml"
    file.write_text(TEXT)
    return Folder.make(tmp_path / "campaign", definition.read(file))


def left(folder: Folder, cell: Cell, name: str, **content: Any) -> Path:
    """Make a run directory as ccu leaves it."""
    run = folder.prepare(cell) / name
    run.mkdir()
    manifest = {"status": "running", "verdict": None, "failure": None, "time": {}, **content}
    (run / "run.json").write_text(json.dumps(manifest))
    return run


VALID: dict[str, Any] = {"status": "finished", "verdict": "valid"}
INVALID: dict[str, Any] = {"status": "finished", "verdict": "invalid"}
FAILED: dict[str, Any] = {"status": "failed", "failure": {"stage": "link", "reason": "x"}}
KILLED: dict[str, Any] = {"status": "failed", "failure": {"stage": "ccu", "reason": "killed"}}
FULL: dict[str, Any] = {"status": "failed", "failure": {"stage": "disk", "reason": "full"}}


@pytest.mark.parametrize(
    ("attempts", "state"),
    [
        ([], "to do"),
        ([VALID], "done"),
        ([{"status": "finished", "verdict": "degraded"}], "done"),
        ([INVALID], "to do"),
        ([INVALID, FAILED], "failed"),
        ([INVALID, VALID], "done"),
        # A run that was ended from outside does not count as a try.
        ([KILLED, FULL, {"status": "interrupted"}, {"status": "running"}], "to do"),
    ],
)
def test_a_cells_state_follows_from_its_run_directories(
    folder: Folder, attempts: list[dict[str, Any]], state: str
) -> None:
    cell = cells(folder.campaign)[0]
    for number, content in enumerate(attempts):
        left(folder, cell, f"run-{number}", **content)
    assert folder.state(cell) == state


def test_a_truncated_manifest_is_not_a_result(folder: Folder) -> None:
    cell = cells(folder.campaign)[0]
    run = left(folder, cell, "run", **VALID)
    whole = (run / "run.json").read_text()
    for length in range(len(whole) - 1):
        (run / "run.json").write_text(whole[:length])
        assert folder.state(cell) == "to do"
        assert folder.attempts(cell).result is None


def test_a_run_that_finished_is_not_done_again(folder: Folder) -> None:
    done = cells(folder.campaign)[0]
    left(folder, done, "run", **VALID)
    waiting = [cell.slug for cell in Work(folder, {"cubic", "reno"}).to_do()]
    assert len(waiting) == 5
    assert done.slug not in waiting


def test_missing_congestion_controls_are_left_out_and_counted(folder: Folder) -> None:
    work = Work(folder, {"cubic"})
    assert {cell.experiment.cc for cell in work.to_do()} == {"cubic"}
    assert work.left_out == {"reno": 3}


def test_another_campaign_in_the_same_place_is_refused(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    file.write_text(TEXT.replace("2s", "3s"))
    with pytest.raises(RefusedError, match="differing in base"):
        Folder.make(folder.path, definition.read(file))
    # But its texts and its report may change while it runs.
    file.write_text(TEXT.replace("title: x", "title: y") + "report: {metrics: [goodput_bps]}\n")
    assert Folder.make(folder.path, definition.read(file)).campaign.title == "y"
    assert Folder.open(folder.path).campaign.report.metrics == ("goodput_bps",)


def test_a_campaign_is_locked_for_one_ccu(folder: Folder) -> None:
    with folder.locked(), pytest.raises(RefusedError, match="another ccu"), folder.locked():
        pass


def test_a_testbed_is_locked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "FOLDER", tmp_path)
    with (
        slots.held("emulated", False, print),
        pytest.raises(RefusedError, match="in use by process"),
        slots.held("emulated", False, print),
    ):
        pass
    with slots.held("emulated", False, print):
        """The lock was released."""


def test_the_stop_rule_is_students_interval() -> None:
    rule = StopRule(metric="x", half_width_ratio=0.1, min_repeats=3)
    # Mean 100, s 1: half-width 4.303 · 1 / √3 = 2.48.
    assert enough(rule, [99.0, 100.0, 101.0])
    assert not enough(rule, [99.0, 100.0])
    # Mean 100, s 10: half-width 24.8.
    assert not enough(rule, [90.0, 100.0, 110.0])


def test_a_precise_point_gets_no_more_runs(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    rule = "stop: {metric: rtt_ms.mean, half_width_ratio: 0.05, min_repeats: 2}\n"
    file.write_text(TEXT + rule)
    folder = Folder.make(tmp_path / "campaign", definition.read(file))
    for cell in cells(folder.campaign):
        if cell.repeat < 2:
            run = left(folder, cell, "run", **VALID)
            spread = 0.0 if cell.experiment.cc == "cubic" else 10.0
            mean = 30.0 + spread * cell.repeat
            write_summary(run, rtt_ms={"mean": mean})
    waiting = [cell.experiment.cc for cell in Work(folder, {"cubic", "reno"}).to_do()]
    assert waiting == ["reno"]


def test_every_stop_rule_has_to_be_satisfied(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    rules = [{"metric": name, "half_width_ratio": 0.05} for name in ("a", "b.mean")]
    file.write_text(f"{TEXT}stop: {json.dumps(rules)}\n")
    folder = Folder.make(tmp_path / "campaign", definition.read(file))
    for cell in cells(folder.campaign):
        run = left(folder, cell, "run", **VALID)
        spread = 0.0 if cell.experiment.cc == "cubic" else 10.0
        write_summary(run, a=30.0, b={"mean": 30.0 + spread * cell.repeat})
    work = Work(folder, {"cubic", "reno"})
    assert [work.enough(point) for point in work.by_point] == [True, False]


def test_a_stop_rule_takes_the_mean_over_the_flows(tmp_path: Path) -> None:
    flows: tuple[dict[str, Any], ...] = (
        {"d3_ratio": 0.5, "rtt_ms": {"p95": None}},
        {"d3_ratio": 0.9, "rtt_ms": {"p95": 30.0}},
        {"d3_ratio": None, "rtt_ms": {"p95": None}},
    )
    write_summary(tmp_path, flows=flows, d3_ratio=7.0)
    assert stopping.metric(tmp_path, "flow.d3_ratio") == pytest.approx(0.7)
    assert stopping.metric(tmp_path, "flow.rtt_ms.p95") == 30.0
    with pytest.raises(RefusedError, match=r"summary.json has no 'flow.d3'"):
        stopping.metric(tmp_path, "flow.d3")
    write_summary(tmp_path, flows=({"d3_ratio": None},))
    assert stopping.metric(tmp_path, "flow.d3_ratio") is None


@pytest.mark.parametrize("name", ["quic_rtt_ms.p95", "flow.completion_s", "mobility.recovery_ms"])
def test_a_number_that_only_some_runs_have_ends_no_campaign(tmp_path: Path, name: str) -> None:
    """Beside a point over QUIC, the first run over TCP was refused as one without the number."""
    write_summary(tmp_path)
    assert stopping.metric(tmp_path, name) is None
    with pytest.raises(RefusedError, match=r"summary.json has no 'quic_rtt'"):
        stopping.metric(tmp_path, "quic_rtt")


def test_a_directory_without_runs_is_removed(folder: Folder) -> None:
    left(folder, cells(folder.campaign)[0], "run", **KILLED)
    folder.forget()
    assert folder.path.is_dir()


def test_a_refused_campaign_leaves_no_directory(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    file.write_text(f"{TEXT}".replace("duration: 2s", "duration: 2s, scenario: nowhere"))
    for more in ((), ("--engine", "dask")):
        into = ("--output", str(tmp_path / "runs"), *more)
        ran = CliRunner().invoke(app, ["campaign", "run", str(file), *into])
        assert isinstance(ran.exception, RefusedError)
        assert not (tmp_path / "runs").exists()


def test_a_refused_command_leaves_a_running_campaign_as_it_is(folder: Folder) -> None:
    """Else what it keeps would change under it, and raw data go."""
    other = folder.campaign.model_copy(update={"keep": "summary"})
    with folder.locked(), pytest.raises(RefusedError, match="another ccu"):
        Folder.make(folder.path, other)
    assert Folder.open(folder.path).campaign.keep == "raw"


def test_a_run_that_cannot_be_analysed_has_no_number(tmp_path: Path) -> None:
    assert stopping.metric(tmp_path, "throughput_bps") is None


def test_a_stop_rule_needs_what_the_analysis_reads(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    stop = "stop: {metric: throughput_bps, half_width_ratio: 0.1}\n"
    file.write_text(TEXT.replace("2s", "2s, capture: false") + stop)
    folder = Folder.make(tmp_path / "campaign", definition.read(file))
    with pytest.raises(RefusedError, match="stop: needs analysed runs, and capture is off"):
        check(Work(folder, {"cubic", "reno"}), machine=False)


def test_a_campaign_looks_for_the_programs_of_each_kind_of_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(VirtualDriver, "check_machine", lambda _, one: looked.append(one.cc))
    file = tmp_path / "try.yaml"
    file.write_text(
        TEXT.replace("{duration", "{testbed: virtual, duration").replace("reno", "'quic:bbr'")
    )
    folder = Folder.make(tmp_path / "campaign", definition.read(file))
    check(Work(folder, set()))
    assert {*looked} == {"cubic", "quic-bbr"}


def test_a_level_is_shown_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    file.write_text(TEXT.replace("[cubic, reno]", "{'[edge]': {cc: cubic}, 'x[/b]': {cc: reno}}"))
    folder = Folder.make(tmp_path / "campaign", definition.read(file))
    now = status_of(Work(folder, {"cubic", "reno"}))
    console = Console(width=60, file=io.StringIO(), markup=False)
    console.print(matrix(now, 60), by_factor(now))
    shown = console.file.getvalue()
    assert "cc=[edge]" in shown
    assert "cc=x[/b]" in shown


def test_the_status_of_what_cannot_run_here_is_empty(folder: Folder) -> None:
    now = status_of(Work(folder, set()))
    assert matrix(now, 80).row_count == 0
    assert lines_of(now, 80) == 1
