# SPDX-License-Identifier: Apache-2.0
"""iperf3's own account, whole or line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ddu.analyze import analysis_of
from ddu.errors import UnreadableInput
from ddu.readers.iperf3 import read_iperf3, received_bytes
from ddu.tables.columns import column
from testsupport.synthetic_run import T0, steady

START = {"timestamp": {"timesecs": 1_795_282_920}, "version": "iperf 3.12"}


def interval(begin: float) -> dict[str, Any]:
    stream = {
        "socket": 5, "start": begin, "end": begin + 1, "seconds": 1.0, "bytes": 1000,
        "bits_per_second": 8000.0, "retransmits": 2, "snd_cwnd": 14480, "rtt": 30000,
        "wobble": 7, "omitted": False, "sender": True,
    }  # fmt: skip
    return {"streams": [stream], "sum": {}}


def read(directory: Path, text: str):
    file = directory / "iperf3.json"
    file.write_text(text)
    return read_iperf3(file)


@pytest.mark.parametrize("by_line", [False, True])
def test_intervals_are_rows(tmp_path: Path, by_line: bool) -> None:
    intervals = [interval(0.0), interval(1.0)]
    whole = json.dumps({"start": START, "intervals": intervals, "end": {}})
    events = [("start", START), *(("interval", each) for each in intervals)]
    lines = "".join(json.dumps({"event": kind, "data": data}) + "\n" for kind, data in events)
    table = read(tmp_path, lines if by_line else whole).table
    assert table["utc_ns"].tolist() == [1_795_282_920_000_000_000, 1_795_282_921_000_000_000]
    assert table["duration_ns"].tolist() == [10**9] * 2
    row = table.iloc[0]
    assert (row["iperf3_bytes"], row["iperf3_cwnd_bytes"], row["iperf3_rtt_us"]) == (
        1000, 14480, 30000,
    )  # fmt: skip
    assert row["wobble"] == 7


def test_a_stream_that_is_cut_gives_what_is_whole(tmp_path: Path) -> None:
    lines = "".join(
        json.dumps({"event": "interval", "data": interval(float(at))}) + "\n" for at in range(3)
    )
    log = read(tmp_path, lines[:-5])
    assert len(log.table) == 2
    assert log.truncated_at == len(lines) // 3 * 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hello\n", ":1: not iperf3"),
        ('{"start": {}, "intervals": [], "error": "unable to connect"}', "unable to connect"),
        ('{"start": {}, "intervals": []}', "without an interval"),
        ('{"start": {}, "inter', "without an interval"),
    ],
)
def test_what_is_none_is_told(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnreadableInput, match=problem):
        read(tmp_path, text)


def test_what_both_ends_said_is_a_table_of_the_run(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    began = T0 // 10**9
    for end, count in (("client", 1000), ("server", 900)):
        stream = {"socket": 5, "start": 0, "end": 1, "bytes": count, "sender": end == "client"}
        said = {"start": {"timestamp": {"timesecs": began}}, "intervals": [{"streams": [stream]}]}
        file = run / "raw" / f"iperf3-f0-{end}.json"
        file.write_text(json.dumps(said | {"end": {}}))
    (run / "raw" / "iperf3-f1-client.json").write_text("{}")
    analysis = analysis_of(run)
    table = analysis.tables["iperf3"]
    assert table[["flow", "end", "iperf3_bytes", "sender"]].to_numpy().tolist() == [
        ["f0", "client", 1000, 1],
        ["f0", "server", 900, 0],
    ]
    assert all(column(str(name), "iperf3") for name in table)
    alignment = analysis.summary["alignment"]["iperf3"]
    assert alignment["uncertainty_ns"] == 1_000_000_000
    assert "iperf3-f1-client.json" in alignment["notes"][-1]


def test_what_is_omitted_comes_first_and_then_the_times_begin_again(tmp_path: Path) -> None:
    omitted = [interval(0.0), interval(1.0)]
    for one in omitted:
        one["streams"][0]["omitted"] = True
    intervals = [*omitted, interval(0.0), interval(1.0)]
    table = read(tmp_path, json.dumps({"start": START, "intervals": intervals, "end": {}})).table
    assert [at / 1e9 - 1_795_282_920 for at in table["utc_ns"]] == [0, 1, 2, 3]
    assert table["iperf3_omitted"].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("by_line", [False, True])
def test_what_the_receiver_counted(tmp_path: Path, by_line: bool) -> None:
    end = {"sum_received": {"bytes": 4000}}
    text = json.dumps({"start": START, "intervals": [], "end": end})
    if by_line:
        events = [{"event": "start", "data": START}, {"event": "end", "data": end}]
        text = "".join(json.dumps(one) + "\n" for one in events)
    (tmp_path / "iperf3-f0-server.json").write_text(text)
    assert received_bytes(tmp_path, "f0") == 4000
    (tmp_path / "iperf3-f0-server.json").write_text(text[:-20])
    assert received_bytes(tmp_path, "f0") is None
