# SPDX-License-Identifier: Apache-2.0
"""The parts of runs that campaigns keep, which are enough for report and rerun."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ccu.campaigns.folder import Folder
from ccu.campaigns.plan import plan_of
from ccu.campaigns.runner import Work
from ddu.run.manifest import write_manifest
from testsupport.prepared import command

LEVELS = ("raw", "tables", "summary")
TEXT = """\
title: Two congestion controls
base: {testbed: virtual, scenario: static, prb: 51, duration: 2s}
factors: {cc: [reminis, cubic]}
repeats: 2
report:
  metrics: [throughput_bps, rtt_ms.p95]
  compare: [{factor: cc, baseline: cubic}]
  reference:
    - {where: {cc: cubic}, metric: throughput_bps, value: 20.0e+6, source: a paper}
  figures:
    - {kind: plane, title: Plane}
    - {kind: cdf, title: Distribution, columns: [tcp_rtt_ms]}
"""


@pytest.fixture(scope="module")
def campaigns(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same campaign with each level, by the level, reported."""
    folder = tmp_path_factory.mktemp("campaigns")
    file = folder / "kept.yaml"
    file.write_text(TEXT)
    made = {}
    for level in LEVELS:
        said = command("ccu", "campaign", "run", file, "--output", folder / level, "--keep", level)
        assert said.returncode == 0, said.stdout + said.stderr
        (made[level],) = (folder / level).iterdir()
        said = command("ddu", "campaign", "report", made[level])
        assert said.returncode == 0, said.stderr
    return made


def first_run(campaign: Path) -> Path:
    return sorted(campaign.glob("runs/cc=reminis,seed=1/*/run.json"))[0].parent


def content(run: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((run / "run.json").read_text())
    return manifest


@pytest.mark.parametrize("name", ["runs", "points", "comparisons", "reference"])
def test_the_report_has_the_same_tables_whatever_was_kept(
    campaigns: dict[str, Path], name: str
) -> None:
    of_raw, *others = (
        pd.read_csv(campaigns[level] / "report" / f"{name}.csv").drop(
            columns="run", errors="ignore"
        )
        for level in LEVELS
    )
    assert len(of_raw) > 0
    for other in others:
        pd.testing.assert_frame_equal(other, of_raw, check_exact=True)


def test_figures_of_tables_that_were_not_kept_are_named(campaigns: dict[str, Path]) -> None:
    drawn = {
        level: sorted(file.name for file in (path / "report/figures").iterdir())
        for level, path in campaigns.items()
    }
    assert drawn["raw"] == drawn["tables"] == ["01-plane.svg", "02-cdf.svg"]
    assert drawn["summary"] == ["01-plane.svg"]
    pages = [campaigns["summary"] / "report" / name for name in ("report.md", "report.html")]
    assert all("(keep: summary): Distribution." in page.read_text() for page in pages)
    assert "eft out" not in (campaigns["tables"] / "report/report.md").read_text()


def test_what_stays_and_what_goes(campaigns: dict[str, Path]) -> None:
    raw, tables, summary = (first_run(campaigns[level]) for level in LEVELS)
    gone = {"sender.pcap", "receiver.pcap", "sockets-server.pcap", "mac.csv", "cc-reminis.csv"}
    everything = {file.name for file in (raw / "raw").iterdir() if file.is_file()}
    assert gone <= everything
    assert "kept" not in content(raw)

    assert {file.name for file in (tables / "raw").iterdir() if file.is_file()} == everything - gone
    named = {Path(one["file"]).name for one in content(tables)["kept"]["dropped"]}
    assert (named, content(tables)["kept"]["level"]) == (gone, "tables")
    for name in ("aligned", "transport", "mac"):
        of_raw, of_tables = (
            pd.read_parquet(run / "tables" / f"{name}.parquet") for run in (raw, tables)
        )
        pd.testing.assert_frame_equal(of_tables, of_raw, check_exact=True)

    files = {str(file.relative_to(summary)) for file in summary.rglob("*") if file.is_file()}
    assert files == {"run.json", "summary.json", "raw/scenario.yaml"}
    for one in content(summary)["kept"]["dropped"]:
        if Path(one["file"]).name in gone:
            written = (raw / one["file"]).read_bytes()
            assert one["bytes"] == len(written)
            assert one["sha256"] == hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize("level", ["tables", "summary"])
def test_a_rerun_compares_what_was_dropped(
    campaigns: dict[str, Path], tmp_path: Path, level: str
) -> None:
    run = first_run(campaigns[level])
    same = command("ccu", "rerun", run, "--output", tmp_path / "same")
    assert same.returncode == 0, same.stderr
    assert f"identical to {run}" in same.stdout

    changed = tmp_path / run.name
    subprocess.run(["cp", "-r", run, changed], check=True)
    described = content(changed)
    (capture,) = (one for one in described["kept"]["dropped"] if one["file"] == "raw/receiver.pcap")
    capture["sha256"] = "0" * 64
    write_manifest(changed, described)
    other = command("ccu", "rerun", changed, "--output", tmp_path / "other")
    assert other.returncode == 1
    assert "not identical: raw/receiver.pcap differs" in other.stdout


def test_a_run_without_raw_data_is_not_analysed_again(campaigns: dict[str, Path]) -> None:
    run = first_run(campaigns["tables"])
    before = (run / "summary.json").read_bytes()
    refused = command("ddu", "analyze", run)
    assert refused.returncode == 2
    assert "its raw data were dropped (keep: tables)" in refused.stderr
    assert f"ccu rerun {run}" in refused.stderr
    assert (run / "summary.json").read_bytes() == before


def test_what_needs_tables_says_that_they_were_not_kept(
    campaigns: dict[str, Path], tmp_path: Path
) -> None:
    run = first_run(campaigns["summary"])
    refused = command("ddu", "compare", campaigns["summary"], folder=tmp_path)
    assert refused.returncode == 2
    assert "has no table aligned, which was not kept (keep: summary)" in refused.stderr
    assert "kept: summary" in command("ddu", "describe", run).stdout


def test_a_resumed_campaign_reduces_what_an_earlier_one_left(
    campaigns: dict[str, Path], tmp_path: Path
) -> None:
    """Also where it was killed after run.json said so, and before the files were gone."""
    path = tmp_path / campaigns["raw"].name
    subprocess.run(["cp", "-r", campaigns["raw"], path], check=True)
    half, whole = first_run(path), first_run(campaigns["tables"])
    described = content(half) | {"kept": content(whole)["kept"]}
    write_manifest(half, described)
    said = command("ccu", "campaign", "resume", path, "--keep", "tables")
    assert said.returncode == 0, said.stderr
    assert len(list(path.glob("runs/*/*/run.json"))) == 4
    assert list(path.glob("runs/*/*/raw/*.pcap")) == []
    assert all(content(file.parent)["kept"]["level"] == "tables"
               for file in path.glob("runs/*/*/run.json"))  # fmt: skip


def test_two_at_a_time_give_the_bytes_of_one(campaigns: dict[str, Path], tmp_path: Path) -> None:
    words = ["--testbed", "virtual", "--scenario", "static", "--duration", "2s"]
    words += ["--cc", "cubic", "--prb", "51", "--seed", "2"]
    said = command("ccu", "run", "--no-report", *words, "--output", tmp_path)
    assert said.returncode == 0, said.stderr
    (alone,) = tmp_path.iterdir()
    (of_campaign,) = campaigns["raw"].glob("runs/cc=cubic,seed=2/*/raw")
    for name in ("sender.pcap", "receiver.pcap", "mac.csv", "sockets-server.pcap"):
        assert (alone / "raw" / name).read_bytes() == (of_campaign / name).read_bytes(), name


@pytest.mark.parametrize("level", LEVELS)
def test_the_plan_knows_about_how_much_disk_space_it_takes(
    campaigns: dict[str, Path], level: str
) -> None:
    folder = Folder.open(campaigns[level])
    planned = plan_of(Work(folder, set())).disk_bytes
    files = campaigns[level].glob("runs/**/*")
    taken = sum(file.stat().st_size for file in files if file.is_file())
    assert taken / 2 < planned < taken * 2


def test_runs_say_what_they_took(campaigns: dict[str, Path]) -> None:
    done = campaigns["tables"]
    said = command("ccu", "campaign", "status", done)
    assert "4 of 4 runs, nothing left" in said.stdout
    for file in done.glob("runs/*/*/run.json"):
        cost = json.loads(file.read_text())["cost"]
        assert cost["cpu_s"] > 0
        assert cost["wall_s"] > 0
        assert cost["analysis_s"] > 0
        assert cost["analysis_cpu_s"] > 0
