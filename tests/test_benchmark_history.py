# SPDX-License-Identifier: Apache-2.0
"""The history of benchmarks (docs/benchmarks/history.csv), and the script that appends to it."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with pages of its own."""
    file = str(ROOT / ".ci/record-benchmarks")
    loader = importlib.machinery.SourceFileLoader("record_benchmarks", file)
    module: Any = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location("record_benchmarks", file, loader=loader)
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    pages = tmp_path / "benchmarks"
    shutil.copytree(module.FOLDER, pages)
    monkeypatch.setattr(module, "FOLDER", pages)
    monkeypatch.setattr(module, "HISTORY", pages / "history.csv")
    return module


def called(record: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["record-benchmarks", *arguments])
    record.main()


def test_every_component_with_benchmarks_has_headline_numbers(record: Any) -> None:
    components = [run.parents[1].name for run in ROOT.glob("*/benchmarks/run")]
    assert components
    for component in components:
        assert record.headlines(component, record.FOLDER / f"{component}.md"), component


def test_a_line_is_appended_for_each_number(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = record.HISTORY.read_text()
    page = record.FOLDER / "ddu.md"
    page.write_text(page.read_text().replace("11,943,491 | 90.2", "12,000,001 | 91.5"))
    called(record, monkeypatch, "ddu", "--date", "2026-12-01", "--revision", "abc")
    after = record.HISTORY.read_text()
    assert after.startswith(before)
    added = [*csv.reader(after.removeprefix(before).splitlines())]
    assert [(row[0], row[1], row[2], row[4]) for row in added] == [
        ("2026-12-01", "abc", "ddu", "12000001"), ("2026-12-01", "abc", "ddu", "91.5"),
    ]  # fmt: skip


def test_a_number_that_is_gone_is_named(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = record.HISTORY.read_text()
    page = record.FOLDER / "ddu.md"
    page.write_text(page.read_text().replace("times dpkt", "against dpkt"))
    with pytest.raises(SystemExit) as ended:
        called(record, monkeypatch, "ddu")
    assert "with a column `times dpkt`" in str(ended.value)
    assert "headlines.csv" in str(ended.value)
    assert record.HISTORY.read_text() == before
