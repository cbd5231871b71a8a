# SPDX-License-Identifier: Apache-2.0
"""Run every panel's query in PostgreSQL, for every value of every variable, as the read-only user."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ddu.store.connect import connected
from ddu.store.directory import StoreDirectory
from ddu.store.publish import publish
from testsupport.panel_queries import Board, Range, boards, interpolated, selections
from testsupport.store_runs import followed, tabled, two_flows, with_radio
from testsupport.store_server import fresh_store, reader_url

HOSTILE = "'; DROP TABLE testbed.run; -- <script>alert(1)</script> \\ \" ${run:raw} $__timeFilter(x) %s"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreDirectory]:
    """Yield a store with runs of several congestion controls and scenarios, one hostile, one failed, one in
    progress."""
    with fresh_store() as place:
        for number, (name, scenario, verdict) in enumerate(
            [
                ("a", "static", "valid"),
                ("b", "highway", "degraded"),
                ("c", "static", "invalid"),
                (HOSTILE, HOSTILE, "valid"),
            ]
        ):
            made = two_flows(600)
            experiment = made.manifest()["experiment"] | {"scenario": scenario, "prb": 24 * (1 + number % 2)}
            if name == HOSTILE:
                experiment["cc"] = HOSTILE
            directory = tmp_path_factory.mktemp("runs") / str(number)
            if number:
                campaign = "d" if name == HOSTILE else name
                definition = {"name": campaign, "title": name, "factors": {"cc": ["cubic"]}}
                content = {"schema_version": 1, "campaign": definition}
                directory.mkdir()
                (directory / "campaign.json").write_text(json.dumps(content))
                directory = directory / "runs" / "cell" / "run"
                directory.parent.mkdir(parents=True)
                levels = {"cc": "cubic", "buffer": "500pkt", "aqm": HOSTILE}
                (directory.parent / "cell.json").write_text(json.dumps({"levels": levels}))
            changes: dict[str, Any] = {"run": name, "experiment": experiment, "verdict": verdict}
            publish(place.url(), tabled(with_radio(made.write(directory, **changes))))
        failed = two_flows(20).write(tmp_path_factory.mktemp("failed") / "run", run="failed", status="failed",
                                     failure={"stage": "traffic", "reason": HOSTILE}, verdict=None)  # fmt: skip
        publish(place.url(), failed)
        going = with_radio(two_flows(60).write(tmp_path_factory.mktemp("live") / "run", run="going", status="running"))
        follow(place, going)
        yield place


def follow(place: StoreDirectory, run: Path) -> None:
    """Store what `ddu publish --live` would have stored by now, with the current time."""
    run_id = followed(place.url(), run)
    with connected(place.url()) as connection:
        for table in ("live_radio", "live_trust", "live_cc"):
            connection.execute(f"UPDATE testbed.{table} SET time = now() - interval '2 s'".encode())
        # The synthetic run has no sockets.
        connection.execute(
            "INSERT INTO testbed.live_socket SELECT %s, now() - i * interval '20 ms', '10.45.0.1:40001', 'cubic', "
            "1e6, 1e6, 1e6, 20, 1e5, 1e5, 0 FROM generate_series(0, 50) AS i", [run_id]
        )  # fmt: skip


def over(board: Board) -> Range:
    return Range(time.time() - 30, time.time() + 30, 20) if board.name == "live" else Range(0, 10, 20)


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_every_panel_answers_for_every_value(filled: StoreDirectory, board: Board) -> None:
    with psycopg.connect(reader_url(filled), autocommit=True) as reader:
        asked = 0
        for values in selections(board, reader):
            for question in board.questions:
                sql = interpolated(question.sql, values, over(board))
                rows = reader.execute(sql.encode()).fetchall()
                asked += 1
                if question.panel["title"] == "Failed, invalid and degraded runs":
                    continue  # May be empty; the test below checks one that is not.
                assert rows, f"{question.name} for {values}"
        assert asked >= len(board.questions)


def test_what_is_asked_is_about_what_was_chosen(filled: StoreDirectory) -> None:
    named = {board.name: board for board in boards()}
    with psycopg.connect(reader_url(filled), autocommit=True) as reader:
        # Names of a campaign's runs begin with the names of the campaign and the cell.
        stored = {"a": "a", "b": "b/cell/b", "c": "c/cell/c", HOSTILE: f"d/cell/{HOSTILE}"}
        ids = dict(reader.execute("SELECT name, run_id::text FROM testbed.run").fetchall())

        def answer(board: str, title: str, **values: list[str]) -> list[Any]:
            (question,) = [one for one in named[board].questions if one.panel["title"] == title]
            chosen = named[board].values(reader, values)
            return reader.execute(interpolated(question.sql, chosen, Range(0, 10, 20)).encode()).fetchall()

        for name in ("a", "b", HOSTILE):
            row = answer("run", "What was run", run=[ids[stored[name]]])[0]
            assert row[0] == stored[name]
            # The path in `ddu serve`: a campaign's runs are deeper.
            below_runs = {"a": "0", "b": "1/runs/cell/run", HOSTILE: "3/runs/cell/run"}[name]
            assert row[-2] == below_runs
        assert {row[1] for row in answer("compare", "Runs", scenario=["highway"])} == {stored["b"]}
        assert {row[1] for row in answer("compare", "Runs", cc=[HOSTILE])} == {stored[HOSTILE]}
        assert len(answer("compare", "Runs")) == 4
        faulty = answer("campaign", "Failed, invalid and degraded runs")
        assert {stored["c"], "failed"} <= {row[0] for row in faulty}
        assert {row[4] for row in faulty if row[0] == "failed"} == {"traffic: " + HOSTILE}
        assert {row[0] for row in answer("campaign", "Failed, invalid and degraded runs", campaign=["c"])} == {
            stored["c"]
        }
        (cell,) = answer("campaign", "Cells", campaign=["b"])
        assert cell[0] == f"aqm={HOSTILE} buffer=500pkt"
        assert {row[0] for row in answer("campaign", "Throughput by cell", campaign=["b"])} == {cell[0]}
        assert {row[0] for row in answer("campaign", "Cells", campaign=["(none)"])} == {"static dl 24", "static dl 106"}
        shown = answer("run", "Sending rate", run=[ids["a"]])
        assert {row[1] for row in shown} == {"cubic f0", "reminis f1"}


def test_each_point_of_a_narrow_plot_has_as_many_bins(filled: StoreDirectory) -> None:
    (board,) = [board for board in boards() if board.name == "radio"]
    (rounds,) = [one for one in board.questions if one.panel["title"] == "HARQ rounds, downlink"]
    with psycopg.connect(reader_url(filled), autocommit=True) as reader:
        values = next(selections(board, reader))
        rows = reader.execute(interpolated(rounds.sql, values, Range(0, 10, 50)).encode()).fetchall()
    # Counters of the synthetic run grow evenly.
    _, *inner, _ = [rate for _, name, rate in rows if name == "round 1 UE 0" and rate]
    assert len(inner) > 2
    assert inner == pytest.approx([inner[0]] * len(inner))


def test_a_run_in_virtual_time_is_as_new_as_its_publication(filled: StoreDirectory) -> None:
    (board,) = [board for board in boards() if board.name == "run"]
    with connected(filled.url()) as owner:
        changed = "UPDATE testbed.run SET started = '2001-09-09', testbed = %s WHERE name = 'a' RETURNING run_id::text"
        ((run,),) = owner.execute(changed, ["emulated"]).fetchall()
        assert board.values(owner, {})["run"][-1] == run
        owner.execute(changed, ["virtual"])
        assert board.values(owner, {})["run"][0] == run
        owner.rollback()


def test_how_far_a_campaign_is(filled: StoreDirectory) -> None:
    (board,) = [board for board in boards() if board.name == "campaign"]
    (done,) = [one for one in board.questions if one.panel["title"] == "Done"]
    with connected(filled.url()) as owner:
        owner.execute("INSERT INTO testbed.campaign (name, directory, planned_count, definition) "
                      "VALUES ('b', '/b', 4, '{}')")  # fmt: skip
        sql = interpolated(done.sql, {"campaign": ["b"]}, Range()).encode()
        for verdict, share in (("valid", 0.25), ("degraded", 0.25), ("invalid", 0)):
            owner.execute("UPDATE testbed.run SET verdict = %s WHERE campaign = 'b'", [verdict])
            assert owner.execute(sql).fetchall() == [(share,)]
        owner.execute("UPDATE testbed.run SET verdict = 'valid' WHERE campaign = 'b'")
        owner.execute(
            "INSERT INTO testbed.campaign (name, directory, planned_count, definition) VALUES ('c', '/c', 4, '{}')"
        )
        owner.execute(
            "UPDATE testbed.run SET campaign = 'c', name = 'c/' || split_part(b.name, '/', 2), "
            "verdict = 'valid' FROM (SELECT name FROM testbed.run WHERE campaign = 'b' LIMIT 1) b "
            "WHERE run_id = (SELECT run_id FROM testbed.run "
            "WHERE campaign IS DISTINCT FROM 'b' AND status = 'finished' LIMIT 1)"
        )
        both = interpolated(done.sql, {"campaign": ["b", "c"]}, Range()).encode()
        assert owner.execute(both).fetchall() == [(0.25,)]
        sql = interpolated(done.sql, {"campaign": ["a"]}, Range()).encode()
        assert owner.execute(sql).fetchall() == [(None,)]
        owner.rollback()


def test_a_store_without_runs_gives_empty_panels(filled: StoreDirectory) -> None:
    with fresh_store() as empty, psycopg.connect(reader_url(empty), autocommit=True) as reader:
        for board in boards():
            values = board.values(reader, {})
            for question in board.questions:
                reader.execute(interpolated(question.sql, values, over(board)).encode())


def test_what_this_stand_in_for_grafana_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown macro"):
        interpolated("SELECT $__timeGroup(time, '1s')", {}, Range())
    with pytest.raises(ValueError, match="unknown macro"):
        interpolated("SELECT ${run:raw}", {"run": ["1"]}, Range())
    with pytest.raises(KeyError):
        interpolated("SELECT ${run:sqlstring}", {}, Range())
    assert interpolated("${a:sqlstring}", {"a": ["it's", "b"]}, Range()) == "'it''s','b'"
