# SPDX-License-Identifier: Apache-2.0
"""A run is followed while its files grow; afterwards it is as if it had been published at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddu.errors import StoreError, UnreadableInput
from ddu.store.connect import connected
from ddu.store.directory import StoreDirectory
from ddu.store.live import await_running, follow, publish_live
from ddu.store.live_rows import Growth, radio_rows, socket_rows
from ddu.store.publish import publish
from ddu.store.tails import CsvTail, SocketTail
from testsupport.store_runs import say, tabled, two_flows, with_radio
from testsupport.store_server import row_count
from testsupport.waiting import until

pytestmark = pytest.mark.filterwarnings("error::FutureWarning")

LIVE = ("live_socket", "live_radio", "live_trust", "live_cc")


def rows(place: StoreDirectory, table: str) -> int:
    return row_count(place.url(), table)


def await_rows(place: StoreDirectory, table: str, count: int) -> None:
    until(lambda: rows(place, table) == count)


def test_rows_appear_while_the_files_grow(empty_store: StoreDirectory, tmp_path: Path) -> None:
    run = tabled(with_radio(two_flows().write(tmp_path / "run")))
    raw = run / "raw"
    whole = {name: (raw / name).read_text() for name in ("mac.csv", "link.csv")}
    lines = whole["mac.csv"].splitlines(keepends=True)
    # Half of the samples, and a line that is not at its end yet.
    (raw / "mac.csv").write_text("".join(lines[:41]) + lines[41][:20])
    (raw / "link.csv").unlink()
    say(run, status="running")
    done: list[Any] = []
    shown: list[str] = []
    follower = threading.Thread(
        target=lambda: done.append(publish_live(empty_store.url(), run, shown.append))
    )
    follower.start()
    await_rows(empty_store, "live_radio", 40)
    assert rows(empty_store, "live_trust") == 0
    (raw / "mac.csv").write_text(whole["mac.csv"])
    (raw / "link.csv").write_text(whole["link.csv"])
    await_rows(empty_store, "live_radio", 80)
    await_rows(empty_store, "live_trust", 40)
    with connected(empty_store.url()) as connection:
        state = connection.execute("SELECT state, name FROM testbed.run").fetchall()
        steps = connection.execute(
            "SELECT DISTINCT mac_dl_sdu_throughput_bps FROM testbed.live_radio WHERE ue = 0 "
            "ORDER BY 1").fetchall()  # fmt: skip
    assert state == [("live", "synthetic")]
    assert steps == [(0.0,), (12e6,)]
    say(run, status="finished")
    follower.join(600)
    assert done[0].outcome == "published"
    assert publish(empty_store.url(), run).outcome == "unchanged"
    assert {table: rows(empty_store, table) for table in LIVE} == dict.fromkeys(LIVE, 0)
    assert rows(empty_store, "run") == 1


def test_a_follower_that_starts_again_doubles_nothing(
    empty_store: StoreDirectory, tmp_path: Path
) -> None:
    run = tabled(with_radio(two_flows().write(tmp_path / "run")))
    say(run, status="running")
    samples = run / "raw/mac.csv"
    for before in (80, 81):
        shown: list[str] = []
        follower = threading.Thread(
            target=publish_live, args=(empty_store.url(), run, shown.append)
        )
        follower.start()
        await_rows(empty_store, "live_radio", before)
        with connected(empty_store.url()) as connection:
            # The connection is cut; the follower reconnects and reads again from the beginning.
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = 'testbed'"
            )
        # It writes, and so notices, when there is more.
        with samples.open("a") as file:
            file.write(samples.read_text().splitlines(keepends=True)[-1])
        await_rows(empty_store, "live_radio", before + 1)
        assert shown.count(f"following {run.name}") == 2
        await_rows(empty_store, "live_cc", 40)
        say(run, status="finished")
        follower.join(600)
        assert not follower.is_alive()
        say(run, status="running")
        with connected(empty_store.url()) as connection:
            connection.execute("TRUNCATE testbed.run CASCADE")


def test_a_finished_run_of_the_same_name_is_not_overwritten(
    empty_store: StoreDirectory, tmp_path: Path
) -> None:
    run = tabled(two_flows(20).write(tmp_path / "run"))
    publish(empty_store.url(), run)
    say(run, status="running")
    with pytest.raises(StoreError, match="finished run of this name"):
        publish_live(empty_store.url(), run, lambda _: None)
    stop = threading.Event()
    shown: list[str] = []
    follower = threading.Thread(
        target=follow, args=(empty_store.url(), run, shown.append, True, stop)
    )
    follower.start()
    until(lambda: f"following {run.name}" in shown)
    stop.set()
    follower.join(600)
    with connected(empty_store.url()) as connection:
        states = connection.execute("SELECT state FROM testbed.run").fetchall()
    assert states == [("live",)]


def test_the_run_that_goes_on_is_found(tmp_path: Path) -> None:
    for name, status in (("20260101-a", "finished"), ("20260102-b", "running")):
        two_flows(20).write(tmp_path / name, status=status)
    assert await_running(tmp_path, time.time() + 60).name == "20260102-b"


@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.integers(0, 4000), max_size=8))
def test_a_tail_gives_each_line_once_wherever_the_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    lines = [f"{index},{index * index},{'' if index % 3 else 'x'}\n" for index in range(200)]
    content = ("utc_ns,square,text\n" + "".join(lines)).encode()
    file = tmp_path_factory.mktemp("tail") / "file.csv"
    tail = CsvTail(file)
    assert tail.new_rows() is None
    parts = []
    for cut in [*sorted(cuts), len(content)]:
        file.write_bytes(content[:cut])
        new = tail.new_rows()
        if new is not None:
            parts.append(new)
    assert tail.new_rows() is None
    read = pd.concat(parts, ignore_index=True)
    assert read["square"].tolist() == [index * index for index in range(200)]


@given(cut=st.integers(1, 99))
def test_growth_is_the_same_in_one_look_or_two(cut: int) -> None:
    counted = [index * 7 if index < 60 else (index - 60) * 5 for index in range(100)]
    samples = pd.DataFrame(
        {
            "utc_ns": [index * 10_000_000 for index in range(100)],
            "duration_ns": 10_000_000,
            "ue": [index % 2 for index in range(100)],
            "mac_dl_sdu_bytes": counted,
        }
    )
    once = radio_rows(samples, Growth(["ue"]))
    growth = Growth(["ue"])
    twice = pd.concat([radio_rows(samples[:cut], growth), radio_rows(samples[cut:], growth)])
    pd.testing.assert_series_equal(
        once["mac_dl_sdu_throughput_bps"].reset_index(drop=True),
        twice["mac_dl_sdu_throughput_bps"].reset_index(drop=True),
    )


def test_samples_without_counters_are_shown(empty_store: StoreDirectory, tmp_path: Path) -> None:
    run = tabled(with_radio(two_flows().write(tmp_path / "run")))
    (run / "raw" / "mac.csv").write_text("utc_ns,duration_ns,ue,mac_rsrp_dbm\n1,1,0,-80\n")
    (run / "raw" / "link.csv").write_text("no,such,thing\n1,2,3\n")
    say(run, status="running")
    shown: list[str] = []
    follower = threading.Thread(target=publish_live, args=(empty_store.url(), run, shown.append))
    follower.start()
    await_rows(empty_store, "live_radio", 1)
    await_rows(empty_store, "live_cc", 40)
    with (run / "raw" / "mac.csv").open("a") as file:
        file.write("2,1,0,-81\n")
    await_rows(empty_store, "live_radio", 2)
    say(run, status="finished")
    follower.join(600)
    assert [line for line in shown if "link.csv" in line and "not shown live" in line]


def test_sockets_that_carry_nothing_yet_are_no_rows() -> None:
    ends = {"src": ["10.45.0.1"] * 3, "dst": ["10.45.0.2"] * 3, "sport": [20001] * 3, "dport": 5201}
    fields = ("total_retrans_count", "rtt_us", "snd_cwnd_packets", "snd_mss_bytes",
              "unacked_packets", "sacked_packets", "lost_packets", "retrans_packets",
              "delivery_rate_bytes_per_s", "pacing_rate_bytes_per_s")  # fmt: skip
    samples = pd.DataFrame({**ends, **dict.fromkeys(fields, 1000), "cong": "cubic"}).assign(
        utc_ns=[0, 20_000_000, 40_000_000], bytes_sent=[0, 50_000, 90_000],
        bytes_acked=[0, 25_000, 75_000],
    )  # fmt: skip
    growth = Growth(["src", "sport", "dst", "dport"])
    assert len(socket_rows(samples[:1], growth)) == 0
    first = socket_rows(samples[1:2], growth)
    assert first["acked_bps"].isna().all()
    second = socket_rows(samples[2:], growth)
    # 50,000 B in 20 ms.
    assert second["acked_bps"].tolist() == [20e6]
    assert second["inflight_bytes"].tolist() == [0.0]
    assert second["flow"].tolist() == ["10.45.0.1:20001"]


def test_what_is_no_such_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(UnreadableInput, match=r"a\.csv.*utc_ns"):
        CsvTail(tmp_path / "a.csv").new_rows()
    (tmp_path / "a.pcap").write_bytes(b"\x4d\x3c\xb2\xa1" + bytes(20) + b"\xff" * 64)
    with pytest.raises(UnreadableInput, match="no record begins at byte 24"):
        SocketTail(tmp_path / "a.pcap").new_rows()


def test_of_two_followers_of_a_run_one_waits(empty_store: StoreDirectory, tmp_path: Path) -> None:
    run = tabled(with_radio(two_flows().write(tmp_path / "run")))
    say(run, status="running")
    outcomes: list[str] = []

    def followed_to_its_end() -> None:
        outcomes.append(publish_live(empty_store.url(), run, lambda _: None).outcome)

    followers = [threading.Thread(target=followed_to_its_end) for _ in range(2)]
    for follower in followers:
        follower.start()
    await_rows(empty_store, "live_radio", 80)
    samples = run / "raw/mac.csv"
    with samples.open("a") as file:
        file.write(samples.read_text().splitlines(keepends=True)[-1])
    await_rows(empty_store, "live_radio", 81)
    say(run, status="finished")
    for follower in followers:
        follower.join(600)
        assert not follower.is_alive()
    assert sorted(outcomes) == ["published", "unchanged"]
