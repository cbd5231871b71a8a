# SPDX-License-Identifier: Apache-2.0
"""Real runs in a real PostgreSQL: followed during the run, and queried by every dashboard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ddu.store.directory import StoreDirectory
from testsupport.panel_queries import Board, Range, boards, interpolated, selections
from testsupport.store_server import fresh_store, reader_url

BIN = Path(sys.executable).parent
pytestmark = [pytest.mark.root]

REMINIS = ("--flows", "reminis@0,cubic@1", "--dl", "--prb", "106", "--duration", "4s")
CUBIC = ("--cc", "cubic", "--ul", "--prb", "24", "--scenario", "static", "--duration", "4s")


@pytest.fixture(scope="module")
def store() -> Iterator[StoreDirectory]:
    with fresh_store() as place:
        yield place


def query(place: StoreDirectory, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(reader_url(place)) as reader:
        return reader.execute(sql.encode()).fetchall()


@pytest.mark.usefixtures("runs")
def test_a_run_is_seen_live(store: StoreDirectory, tmp_path: Path) -> None:
    environment = os.environ | {"DDU_STORE": store.url()}
    with subprocess.Popen(
        [BIN / "ddu", "publish", "--live", "--runs", tmp_path], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as follower:  # fmt: skip
        assert follower.stdout is not None
        assert "waiting for a run" in follower.stdout.readline()
        with subprocess.Popen(
            [BIN / "ccu", "run", "--testbed", "emulated", *CUBIC, "--output", tmp_path],
            stdout=subprocess.DEVNULL,
        ) as run:
            seen = dict.fromkeys(("live_socket", "live_radio", "live_trust"), 0)
            while run.poll() is None:
                for table in seen:
                    (row,) = query(store, f"SELECT count(*) FROM testbed.{table}")
                    seen[table] = max(seen[table], row[0])
                states = query(store, "SELECT state, cc FROM testbed.run")
                assert states in ([], [("live", "cubic")])
                time.sleep(0.1)
            assert run.returncode == 0
        printed, _ = follower.communicate(timeout=600)
    assert follower.returncode == 0, printed
    assert "Warning" not in printed
    (directory,) = tmp_path.iterdir()
    # Four seconds of samples at 10 ms: most of them were visible before the run had ended.
    samples = len((directory / "raw" / "mac.csv").read_text().splitlines()) - 1
    assert seen["live_radio"] > samples / 2, printed
    assert seen["live_socket"] > 50, printed
    assert seen["live_trust"] > samples / 4, printed
    assert query(store, "SELECT state, status FROM testbed.run") == [("published", "finished")]
    assert query(store, "SELECT count(*) FROM testbed.live_radio") == [(0,)]
    assert "unchanged" in publish(store, directory)


def publish(place: StoreDirectory, *directories: Path) -> str:
    printed = subprocess.run(
        [BIN / "ddu", "publish", *directories], capture_output=True, text=True, check=False,
        env=os.environ | {"DDU_STORE": place.url()},
    )  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    return printed.stdout


@pytest.mark.usefixtures("runs")
def test_every_panel_shows_real_runs(store: StoreDirectory, tmp_path: Path) -> None:
    # Not by `runs`, which tries again until the machine held one: here any verdict will do.
    subprocess.run(
        [BIN / "ccu", "run", "--testbed", "emulated", *REMINIS, "--output", tmp_path], check=True
    )
    directories = list(tmp_path.iterdir())
    publish(store, *directories)
    names = {json.loads((path / "run.json").read_text())["run"] for path in directories}
    with psycopg.connect(reader_url(store), autocommit=True) as reader:
        assert names <= {row[0] for row in reader.execute("SELECT name FROM testbed.run")}
        for board in boards():
            if board.name != "live":
                _ask(board, reader)


def _ask(board: Board, reader: psycopg.Connection) -> None:
    """Query every value for rows, and each panel for a number for at least one of them."""
    numbers: dict[str, bool] = {}
    for values in selections(board, reader):
        for question in board.questions:
            sql = interpolated(question.sql, values, Range(0, 10, 20))
            rows = reader.execute(sql.encode()).fetchall()
            if question.panel["title"] != "Failed, invalid and degraded runs":
                assert rows, f"{question.name} for {values}"
            known = any(cell is not None for row in rows for cell in row[1:] or row)
            numbers[question.name] = numbers.get(question.name, False) or known
    # A busy machine may hold neither run, which then counts in no mean, or hold both; neither is of
    # a campaign that was published by its directory.
    for name in ("Failed, invalid and degraded runs", "Throughput by cell", "Done"):
        numbers.pop(f"campaign: {name}", None)
    assert [name for name, known in numbers.items() if not known] == []
