# SPDX-License-Identifier: Apache-2.0
"""The analysis of a campaign's runs in several processes."""

from __future__ import annotations

import os
from io import StringIO
from multiprocessing import util
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ddu.campaign import analysis
from ddu.campaign.analysis import analyze_all
from testsupport.synthetic_run import steady


def test_one_interpreter_imports_what_all_processes_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Besides it there is at most the one that multiprocessing has for shared resources."""

    def start(path: str, arguments: list[str], descriptors: list[int]) -> Any:
        started.append(str(arguments))
        return spawn(path, arguments, descriptors)

    started, spawn = list[str](), util.spawnv_passfds
    monkeypatch.setattr(util, "spawnv_passfds", start)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    runs = [steady(10).write(tmp_path / f"run{number}") for number in range(3)]
    broken = tmp_path / "broken"
    broken.mkdir()
    console = Console(file=StringIO(), width=1000)
    analyze_all(console)([*runs, broken])
    assert all((run / "report.html").exists() for run in runs)
    assert isinstance(console.file, StringIO)
    assert f"left out: {broken}" in console.file.getvalue()
    interpreters = [one for one in started if "resource_tracker" not in one]
    assert len(interpreters) <= 1, interpreters


def test_a_folder_with_a_long_name_is_no_place_for_its_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ways = []
    for folder in ("/tmp", "/tmp/" + "long/" * 20):
        monkeypatch.setattr(analysis, "gettempdir", lambda folder=folder: folder)
        ways.append(analysis._way_of_starting())
    assert ways == ["forkserver", "spawn"]
