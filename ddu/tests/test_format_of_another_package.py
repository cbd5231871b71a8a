# SPDX-License-Identifier: Apache-2.0
"""A log format in one file of another package works end to end: describe, import, analyze."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from testsupport.example_package import ddu, install
from testsupport.synthetic_run import MS, T0, steady


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of packages, in which one with the example is installed."""
    return install(tmp_path / "packages", "radio_probe", "ddu.formats: probe = radio_probe:FORMATS")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Captures of a transfer, and beside them the probe's log, which begins with other lines."""
    steady().write(tmp_path / "source")
    folder = tmp_path / "walk_DL"
    folder.mkdir()
    for role, name in (("sender", "server"), ("receiver", "ue")):
        shutil.copy(tmp_path / "source" / "raw" / f"{role}.pcap", folder / f"{name}.pcap")
    lines = ["radio probe 1.2 starting", "antenna ok"]
    for index in range(6):
        at_ns = T0 + (index - 1) * 25 * MS
        at = datetime.fromtimestamp(at_ns // 10**9, timezone.utc)
        stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at_ns % 10**9:09d}Z"
        lines.append(f"probe {stamp} ue 0 rsrp {-80.5 - index} mcs 17 battery low")
    (folder / "probe.log").write_text("\n".join(lines) + "\n")
    return folder


def described(packages: Path, file: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(ddu(packages, "describe", file, "--json").stdout)
    return described


def test_describe_import_and_analyze_know_it(packages: Path, folder: Path, tmp_path: Path) -> None:
    description = described(packages, folder / "probe.log")
    assert (description["kind"], description["rows"]) == ("radio-probe", 6)
    made = ddu(packages, "import", folder, "--runs", tmp_path / "runs", "--one-clock")
    assert made.returncode == 0, made.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["mac"]["source"] == "probe"
    ended = ddu(packages, "analyze", "--no-report", run)
    assert ended.returncode == 0, ended.stderr
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    assert mac["mac_rsrp_dbm"].tolist() == [-81.5, -82.5, -83.5, -84.5, -85.5]
    assert mac["mac_dl_mcs"].unique().tolist() == [17]
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert aligned["mac_rsrp_dbm"].notna().any()
    alignment = json.loads((run / "summary.json").read_text())["alignment"]["mac"]
    assert (alignment["format"], alignment["uncertainty_ns"]) == ("radio-probe", 1_000)


def test_without_its_package_the_format_is_unknown(folder: Path, tmp_path: Path) -> None:
    assert described(tmp_path, folder / "probe.log")["kind"] == "unknown format"


def test_a_package_that_cannot_be_loaded_is_named(packages: Path, folder: Path) -> None:
    (packages / "radio_probe.py").write_text("1 / 0\n")
    ended = ddu(packages, "describe", folder / "probe.log")
    assert "ddu.formats probe (radio_probe:FORMATS) of the package radio_probe" in ended.stderr
    assert ended.returncode == 0, "the rest works"
    assert "unknown format" in ended.stdout


def test_a_name_that_is_taken_is_refused(packages: Path, folder: Path) -> None:
    example = packages / "radio_probe.py"
    example.write_text(example.read_text().replace('name="radio-probe"', 'name="ss"'))
    ended = ddu(packages, "describe", folder / "probe.log")
    assert ended.returncode == 2
    assert "log format ss: declared more than once" in ended.stderr
