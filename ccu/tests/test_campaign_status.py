# SPDX-License-Identifier: Apache-2.0
"""The status that is kept while a campaign runs is the one that its directory gives."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ccu.campaigns import definition, display
from ccu.campaigns.engines import Outcome
from ccu.campaigns.folder import Folder
from ccu.campaigns.runner import Work
from ccu.campaigns.status import Progress, status_of
from ddu.campaign.attempts import Attempts
from testsupport.summaries import write_summary

TEXT = """\
title: x
base: {duration: 2s}
factors: {cc: [cubic, reno], prb: [24, 51, 106], direction: [dl, ul]}
repeats: 4
retries: 1
stop: {metric: throughput_bps, half_width_ratio: 0.1, min_repeats: 2}
"""
THERE = {"cubic", "reno"}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    file = tmp_path / "try.yaml"
    file.write_text(TEXT)
    return Folder.make(tmp_path / "campaign", definition.read(file))


def tried(folder: Folder, work: Work, generator: random.Random) -> Any:
    """Make one more run directory in a cell, with any result."""
    cell = generator.choice(work.cells)
    run = folder.prepare(cell) / f"run-{generator.random()}"
    run.mkdir()
    status, verdict, stage = generator.choice(
        [("finished", "valid", ""), ("finished", "degraded", ""), ("finished", "invalid", ""),
         ("failed", None, "link"), ("failed", None, "ccu"), ("interrupted", None, "")]
    )  # fmt: skip
    begin_ns = 10**18
    end_ns = begin_ns + generator.randrange(10**10)
    content = {
        "status": status,
        "verdict": verdict,
        "failure": {"stage": stage, "reason": "why"} if stage else None,
        "time": {"start_utc_ns": begin_ns, "stop_utc_ns": end_ns},
    }
    (run / "run.json").write_text(json.dumps(content))
    write_summary(run, throughput_bps=generator.choice([9, 10, 20]))
    return cell


def test_the_kept_status_equals_the_one_read_again_after_every_run(folder: Folder) -> None:
    generator = random.Random(5)
    work = Work(folder, THERE)
    kept = Progress(work)
    for _ in range(60):
        cell = tried(folder, work, generator)
        work.update(cell)
        kept.update(cell)
        afresh = Work(folder, THERE)
        now, read = kept.status(), status_of(afresh)
        assert now.rows == read.rows
        assert now.left_s == pytest.approx(read.left_s)
        assert [(c.slug, why) for c, why in now.failures] == [
            (c.slug, why) for c, why in read.failures
        ]
        assert [c.slug for c in work.to_do()] == [c.slug for c in afresh.to_do()]
        assert now.complete == (not list(afresh.to_do()))


def test_after_a_run_only_its_cell_is_read(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a campaign of 10,000 runs would read 10,000 directories after each."""
    work = Work(folder, THERE)
    read: list[str] = []
    as_before = folder.attempts

    def counted(cell: Any) -> Attempts:
        read.append(cell.slug)
        return as_before(cell)

    for terminal in (False, True):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=100, height=40)
        with display.shown(work, console) as listener:
            cell = tried(folder, work, random.Random(int(terminal)))
            monkeypatch.setattr(folder, "attempts", counted)
            read.clear()
            listener.started(cell)
            work.update(cell)
            listener.ended(Outcome(cell, None))
            assert read == [cell.slug]
        monkeypatch.undo()


def test_a_design_higher_than_the_terminal_is_shown_by_factor(folder: Folder) -> None:
    work = Work(folder, THERE)
    tried(folder, work, random.Random(3))

    def drawn(height: int) -> str:
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=True, width=100, height=height)
        with display.shown(Work(folder, THERE), console):
            pass
        return screen.getvalue()

    assert "direction=dl" in drawn(40)
    assert "direction=dl" not in drawn(12)
    screen = io.StringIO()
    Console(file=screen, width=100).print(display.by_factor(status_of(work)))
    assert [line.split()[0] for line in screen.getvalue().splitlines() if "/16" in line] == [
        "prb", "51", "106"
    ]  # fmt: skip
    # Each of two congestion controls and two directions has half of 48 runs, each bandwidth a
    # third.
    assert [screen.getvalue().count(share) for share in ("/24", "/16")] == [4, 3]
