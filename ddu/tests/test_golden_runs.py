# SPDX-License-Identifier: Apache-2.0
"""Recorded runs, which give the same tables as when they were recorded (golden_runs/README.md)."""

from __future__ import annotations

import csv
import io
import json
import shutil
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path

import pytest

from ddu.tables.columns import column
from ddu.tables.store import COMPUTED
from testsupport.prepared import command

GOLDEN_RUNS = Path(__file__).parents[2] / "tests/golden_runs"
NAMES = sorted(manifest.parent.name for manifest in GOLDEN_RUNS.glob("*/run.json"))


@pytest.fixture(scope="module", params=NAMES)
def golden(request: pytest.FixtureRequest) -> Path:
    return GOLDEN_RUNS / str(request.param)


@pytest.fixture(scope="module")
def analysed(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of a recorded run, analysed again."""
    run = tmp_path_factory.mktemp(golden.name)
    shutil.copy(golden / "run.json", run)
    shutil.copytree(golden / "raw", run / "raw")
    ended = command("ddu", "analyze", "--no-report", run)
    assert ended.returncode == 0, ended.stderr
    return run


def check_same_csv(made: Path, golden: Path) -> None:
    """Check byte for byte, so that a difference names its line, but for the digits of numbers.

    The golden tables have every digit that was computed; ours those that the column declares.
    """
    ours, theirs = made.read_bytes(), golden.read_bytes()
    if ours == theirs:
        return
    place = str(golden.relative_to(GOLDEN_RUNS))
    assert made.stem in COMPUTED, f"{place}: other bytes in a table of a source"
    rows = zip_longest(*(csv.reader(io.StringIO(text.decode())) for text in (ours, theirs)))
    header, kept_header = next(rows)
    assert header == kept_header, place
    digits = [
        declared.csv_digits if (declared := column(name, made.stem)) else None for name in header
    ]
    for number, (row, kept) in enumerate(rows, 2):
        assert row is not None, f"{place}: no line {number}"
        assert kept is not None, f"{place}: line {number} is new"
        for name, keeps, value, expected in zip(header, digits, row, kept, strict=True):
            same = value == expected or is_rounded(value, expected, keeps)
            assert same, f"{place}, line {number}, {name}: {value}, was {expected}"


def is_rounded(value: str, expected: str, digits: int | None) -> bool:
    """Return whether `value` is `expected` with at most so many decimals; None means with all."""
    if digits is None or "" in (value, expected):
        return False
    last = Decimal(1).scaleb(-digits)
    error = abs(Decimal(value) - Decimal(expected))
    return Decimal(value) % last == 0 and error <= last / 2


def test_rounding_is_distinguished_from_another_number() -> None:
    assert is_rounded("303.9", "303.92787640000006", 1)
    assert not is_rounded("303.92787", "303.92787640000006", 1)
    assert not is_rounded("304", "303.92787640000006", 1)
    assert not is_rounded("303.9", "303.92787640000006", None)
    assert not is_rounded("0", "", 1)


def test_every_testbed_has_a_golden_run() -> None:
    assert {"emulated", "oai", "phone"} <= set(NAMES)


def test_the_tables_are_the_same(analysed: Path, golden: Path) -> None:
    made, kept = ({path.name for path in run.glob("tables/*.csv")} for run in (analysed, golden))
    assert made == kept
    for name in sorted(kept):
        check_same_csv(analysed / "tables" / name, golden / "tables" / name)


def test_the_summary_is_the_same(analysed: Path, golden: Path) -> None:
    # No field is left out: files are named relative to the run, and the versions under `software`
    # are those of the recording, which analysis copies from run.json.
    # Digests of files are those of one version of Arrow.
    made, kept = (json.loads((run / "summary.json").read_text()) for run in (analysed, golden))
    del made["integrity"]
    assert made == kept
