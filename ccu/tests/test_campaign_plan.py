# SPDX-License-Identifier: Apache-2.0
"""The time that a plan says: the start of a campaign, its runs, their analysis, a busy machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.campaigns import definition
from ccu.campaigns.estimate import START_S, analysis_s, slowdown
from ccu.campaigns.folder import Folder
from ccu.campaigns.plan import Plan, plan_of
from ccu.campaigns.runner import Work
from ccu.cli import campaign as command
from ccu.host import cores
from ccu.testbeds import driver_of

TEXT = """\
title: x
base: {testbed: virtual, duration: 20s}
factors: {cc: [cubic, reno]}
repeats: 4
"""


def planned(folder: Path, keep: str) -> tuple[Plan, Work]:
    file = folder / f"{keep}.yaml"
    file.write_text(f"{TEXT}keep: {keep}\n")
    work = Work(Folder.make(folder / f"campaign-{keep}", definition.read(file)), set())
    return plan_of(work), work


def test_a_plan_has_the_start_the_runs_and_their_analyses(tmp_path: Path) -> None:
    tables, work = planned(tmp_path, "tables")
    one = work.of_points[0]
    run_s = driver_of(one).expected_s(one)
    assert tables.left_s == pytest.approx(START_S + 8 * (run_s + analysis_s(one)))
    assert tables.report_s == 0
    raw, _ = planned(tmp_path, "raw")
    assert raw.left_s == pytest.approx(START_S + 8 * run_s)
    assert raw.report_s == pytest.approx(8 * analysis_s(one))


def test_the_time_of_a_run_is_not_less_than_the_cpu_time_on_record(tmp_path: Path) -> None:
    """One CUBIC flow of 20 s over rome-moderate: 0.37 s of CPU, 0.49 s (docs/virtual-time.md)."""
    _, work = planned(tmp_path, "raw")
    one = work.of_points[0]
    assert 0.49 < driver_of(one).expected_s(one) < 2 * 0.49


@pytest.mark.parametrize(
    ("load", "at_once", "here", "times"),
    [(0, 2, 2, 1), (0.5, 1, 2, 1), (12, 2, 2, 7), (2, 2, 4, 1), (0, 8, 2, 1)],
)
def test_programs_beside_it_slow_a_campaign_down(
    load: float, at_once: int, here: int, times: float
) -> None:
    assert slowdown(load, at_once, here) == times


@pytest.mark.parametrize("load", [0.0, 12.0])
def test_the_plan_says_what_a_busy_machine_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: float
) -> None:
    _, work = planned(tmp_path, "tables")
    work.at_once = 2
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(cores, "allowed", lambda: 2)
    said = "12 on 2 cores: 7 times as long while other programs use them"
    assert command._busy(work) == (said if load else "")


def test_the_command_shows_the_analysis_that_is_left_to_the_report(tmp_path: Path) -> None:
    for keep in ("raw", "tables"):
        file = tmp_path / f"{keep}.yaml"
        file.write_text(f"{TEXT}keep: {keep}\n")
        said = CliRunner().invoke(command.app, ["plan", str(file), "--output", str(tmp_path)])
        assert said.exit_code == 0, said.output
        assert ("ddu campaign report" in said.output) is (keep == "raw")
