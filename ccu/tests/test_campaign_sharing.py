# SPDX-License-Identifier: Apache-2.0
"""A run that another campaign has made with the same experiment, seed and software is shared."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ccu.campaigns import definition
from ccu.campaigns.cells import Cell, cells
from ccu.campaigns.folder import Folder
from ccu.campaigns.runner import Work, share_runs
from ccu.campaigns.sharing import Neighbours
from ccu.runs import manifest
from ddu.run.manifest import read_content, write_manifest
from testsupport.summaries import write_summary

TEXT = """\
title: x
base: {testbed: virtual, cc: cubic, duration: 2s}
factors: {prb: [24, 106]}
repeats: 3
keep: summary
"""
SOFTWARE = {"ccu": "0.1.0", "git_revision": "a1b2", "git_modified": False}


@pytest.fixture(autouse=True)
def _software(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "software_of", lambda _: SOFTWARE)


def campaign(tmp_path: Path, name: str, text: str = TEXT) -> Folder:
    file = tmp_path / f"{name}.yaml"
    file.write_text(text)
    return Folder.make(tmp_path / f"campaign-{name}-only", definition.read(file))


def finished(folder: Folder, cell: Cell, **other: Any) -> Path:
    """Make the directory of a run that finished."""
    run = folder.prepare(cell) / "20261123T120000Z-cubic-dl"
    (run / "raw").mkdir(parents=True)
    (run / "raw" / "scenario.yaml").write_text("summary: x\n")
    write_summary(run, throughput_bps=1e7)
    content = {
        "schema_version": 1, "run": run.name, "status": "finished", "verdict": "valid",
        "experiment": cell.experiment.record(),
        "software": SOFTWARE, "kept": {"level": "summary", "dropped": []},
        "cost": {"wall_s": 3.0, "cpu_s": 2.0}, **other,
    }  # fmt: skip
    (run / "run.json").write_text(json.dumps(content))
    return run


def shared(folder: Folder) -> tuple[list[Cell], list[str]]:
    """Share what can be; return the cells that are done then, and what was printed."""
    work, printed = Work(folder, set()), list[str]()
    share_runs(work, printed.append)
    return [cell for cell in work.cells if work.state(cell) == "done"], printed


def test_a_run_is_shared_and_says_from_where(tmp_path: Path) -> None:
    first = campaign(tmp_path, "first")
    run = finished(first, cells(first.campaign)[0], software=SOFTWARE | {"kernel": "6.1"})
    # Another factor, of which one level gives the same experiment.
    text = TEXT.replace("prb: [24, 106]", "cc: [cubic, reno], prb: [24, 106]")
    second = campaign(tmp_path, "second", text)
    (cell,), printed = shared(second)
    assert printed == [f"runs shared with other campaigns in {tmp_path}: 1"]
    assert cell.experiment == cells(first.campaign)[0].experiment
    there = second.cell(cell) / run.name
    content = json.loads((there / "run.json").read_text())
    assert content.pop("shared_from") == str(run.relative_to(tmp_path))
    del content["integrity"]  # run.json's own digest; the fixture has none.
    assert content == json.loads((run / "run.json").read_text())
    files = ("summary.json", "raw/scenario.yaml")
    assert all((there / name).samefile(run / name) for name in files)
    # A third one names the campaign that made it.
    third = campaign(tmp_path, "third")
    (cell,), _ = shared(third)
    (file,) = third.cell(cell).glob("*/run.json")
    assert json.loads(file.read_text())["shared_from"] == str(run.relative_to(tmp_path))


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": "invalid"},
        {"status": "failed"},
        {"software": SOFTWARE | {"git_revision": "c3d4"}},
        {"software": SOFTWARE | {"git_modified": True}},
        {"software": SOFTWARE | {"git_revision": None}},
        {"software": SOFTWARE | {"virtual-kernel": "6.12"}},
        {"experiment": {"cc": "cubic"}},
        {"kept": None},  # Its campaign is about to drop its raw data.
        {"cc_implementation": {"cubic": {"kind": "bpf", "sha256": "00ff"}}},
    ],
)
def test_a_run_that_may_be_another_is_not_shared(tmp_path: Path, other: dict[str, Any]) -> None:
    (tmp_path / "campaign-broken").mkdir()
    (tmp_path / "campaign-broken" / "campaign.json").write_text("{")
    first = campaign(tmp_path, "first")
    finished(first, cells(first.campaign)[0], **other)
    assert shared(campaign(tmp_path, "second")) == ([], [])


def test_a_run_that_was_changed_is_not_shared(tmp_path: Path) -> None:
    """A copy would be sealed as whole. The campaign whose run it is makes another."""
    first = campaign(tmp_path, "first")
    first_changed, later_changed, good = (
        finished(first, cell) for cell in cells(first.campaign)[:3]
    )
    for run in (first_changed, later_changed, good):
        write_manifest(run, read_content(run))
    change(first_changed)
    second = campaign(tmp_path, "second")
    neighbours, (one, two, three) = Neighbours(second), cells(second.campaign)[:3]
    assert not neighbours.give(one)  # It has read its neighbours.
    change(later_changed)
    assert not neighbours.give(two)
    assert neighbours.give(three)
    states = [first.state(cell) for cell in cells(first.campaign)[:3]]
    assert states == ["to do", "to do", "done"]


def change(run: Path) -> None:
    content = json.loads((run / "run.json").read_text())
    content["cost"]["wall_s"] = 1.0
    (run / "run.json").write_text(json.dumps(content))


def test_a_newer_run_beside_others_keeps_none_of_them_from_being_shared(tmp_path: Path) -> None:
    before, after = campaign(tmp_path, "before"), campaign(tmp_path, "after")
    first, second, *_ = cells(before.campaign)
    finished(before, first, schema_version=2)
    finished(before, second)
    assert len(shared(after)[0]) == 1


def test_the_files_of_a_shared_run_are_on_disk_before_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = campaign(tmp_path, "first")
    run = finished(first, cells(first.campaign)[0])
    second = campaign(tmp_path, "second")
    synced, fsync = list[Path](), os.fsync

    def noted(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    assert Neighbours(second).give(cells(second.campaign)[0])
    there = second.cell(cells(second.campaign)[0]) / run.name
    names = ("summary.json", "raw/scenario.yaml", "raw", ".")
    assert {there / name for name in names} <= set(synced[: synced.index(there / "run.part")])


def test_a_run_of_which_too_little_is_kept_is_not_shared(tmp_path: Path) -> None:
    first = campaign(tmp_path, "first")
    finished(first, cells(first.campaign)[0])
    for keep in ("raw", "tables"):
        text = TEXT.replace("keep: summary", f"keep: {keep}")
        assert shared(campaign(tmp_path, keep, text)) == ([], [])


@pytest.mark.parametrize(
    "key",
    [
        "cc: ./mine.bpf.c", "scenario: ./mine.yaml", "testbed: emulated",
        "cc_params: {weights: ./mine.json}",
        "changes: [{at: 1s, cc_params: {weights: ./mine.json}}]",
    ],
)  # fmt: skip
def test_what_else_decides_a_run_prevents_sharing(tmp_path: Path, key: str) -> None:
    source = Path(__file__).parents[2] / "rf-scenarios" / "constant-100M.yaml"
    (tmp_path / "mine.yaml").write_text(source.read_text())
    (tmp_path / "mine.bpf.c").write_text("\n")
    of_key = yaml.safe_load(key.replace("./", f"{tmp_path}/"))
    base = {"testbed": "virtual", "cc": "cubic", "duration": "2s", **of_key}
    text = TEXT.replace("{testbed: virtual, cc: cubic, duration: 2s}", json.dumps(base))
    first = campaign(tmp_path, "first", text)
    finished(first, cells(first.campaign)[0])
    assert shared(campaign(tmp_path, "second", text)) == ([], [])


def test_a_name_of_the_users_own_folder_prevents_sharing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT.replace("cc: cubic", "cc: verus")
    first = campaign(tmp_path, "first", text)
    for cell in cells(first.campaign):
        finished(first, cell)
    assert len(shared(campaign(tmp_path, "shipped", text))[0]) == 6
    own = tmp_path / "policies"
    own.mkdir()
    shutil.copy(Path(__file__).parents[2] / "cc" / "policies" / "verus.py", own)
    monkeypatch.setenv("CCU_CC_PATH", str(own))
    assert shared(campaign(tmp_path, "own", text)) == ([], [])


def test_with_a_stop_rule_no_more_runs_than_needed_are_shared(tmp_path: Path) -> None:
    text = f"{TEXT.replace('repeats: 3', 'repeats: 20')}stop:\n  metric: throughput_bps\n"
    text += "  half_width_ratio: 0.1\n"
    first = campaign(tmp_path, "first", text)
    for cell in cells(first.campaign):
        finished(first, cell)
    done, _ = shared(campaign(tmp_path, "second", text))
    assert len(done) == 6


def test_what_a_killed_ccu_has_left_is_shared_again(tmp_path: Path) -> None:
    first = campaign(tmp_path, "first")
    run = finished(first, cells(first.campaign)[0])
    second = campaign(tmp_path, "second")
    part = second.prepare(cells(second.campaign)[0]) / run.name
    (part / "raw").mkdir(parents=True)
    done, _ = shared(second)
    assert len(done) == 1
    assert (part / "summary.json").exists()


def test_a_link_in_raw_data_shares_nothing_that_it_leads_to(tmp_path: Path) -> None:
    """A program that ran contained may have put it there; root would give away what it leads to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("secret")
    first, second = campaign(tmp_path, "first"), campaign(tmp_path, "second")
    source = finished(first, cells(first.campaign)[0])
    (source / "raw" / "folder").symlink_to(outside)
    (source / "raw" / "file").symlink_to(outside / "key")
    (cell,), _ = shared(second)
    there = second.cell(cell) / source.name / "raw"
    links = {path.name for path in there.iterdir() if path.is_symlink()}
    assert links == {"folder", "file"}
    assert (outside / "key").stat().st_nlink == 1
