# SPDX-License-Identifier: Apache-2.0
"""qlog: versions, records that are cut off, and losses that were none."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ddu.api import analyze, open_run
from ddu.compare.load import load_runs
from ddu.compare.tables import METRICS, means_text, usual_metrics
from ddu.errors import UnreadableInput
from ddu.readers.formats import read_log
from ddu.readers.qlog import read_qlog, read_quic_logs
from ddu.report.text import lines
from testsupport.synthetic_run import MS, T0, SyntheticRun, steady, udp

HEADER = {
    "qlog_version": "0.3",
    "qlog_format": "JSON-SEQ",
    "trace": {"common_fields": {"time_format": "relative", "reference_time": 1_000_000}},
}


def event(time_ms: float, name: str, **data: Any) -> dict[str, Any]:
    return {"time": time_ms, "name": name, "data": data}


def packet(time_ms: float, name: str, number: int) -> dict[str, Any]:
    header = {"packet_type": "1RTT", "packet_number": number}
    return event(time_ms, name, header={**header, "length": 1200})


SENDER = [
    HEADER,
    packet(1, "transport:packet_sent", 0),
    event(1.5, "recovery:metrics_updated", congestion_window=12_000, smoothed_rtt=25.5),
    packet(2, "transport:packet_sent", 1),
    packet(30, "recovery:packet_lost", 0),
    packet(31, "recovery:packet_lost", 1),
    event(32.000001, "recovery:metrics_updated", congestion_window=6_000),
]
RECEIVER = [HEADER, packet(14, "transport:packet_received", 1)]


def write(file: Path, records: list[dict[str, Any]], end: str = "\n") -> Path:
    file.parent.mkdir(exist_ok=True)
    text = "\n".join(f"\x1e{json.dumps(one)}" for one in records)
    file.write_text(text + end)
    return file


def test_rows_have_the_state_and_the_losses_of_the_sender(tmp_path: Path) -> None:
    write(tmp_path / "quic/f0-sender.sqlog", SENDER)
    write(tmp_path / "quic/f0-receiver.sqlog", RECEIVER)
    tables, _, faults = read_quic_logs(tmp_path, (SimpleNamespace(id="f0"),))  # type: ignore[arg-type]
    assert faults == []
    rows = tables["quic"].table
    assert list(rows["quic_cwnd_bytes"]) == [12_000, 12_000, 12_000, 6_000]
    assert list(rows["quic_srtt_ms"]) == [25.5] * 4
    assert list(rows["quic_loss_count"]) == [0, 1, 1, 0]
    assert list(rows["quic_spurious_loss_count"]) == [0, 0, 1, 0]
    assert rows["utc_ns"].iloc[-1] == 1_000_032_000_001


def of_group(group: str, one: dict[str, Any], kind: str = "1RTT") -> dict[str, Any]:
    """Return a packet's event as quinn writes it, with the connection's ID of that instant."""
    one["data"]["header"]["packet_type"] = kind
    return {**one, "group_id": group}


OF_QUINN = {
    "sender": [
        HEADER,
        of_group("a", packet(1, "transport:packet_sent", 0), "initial"),
        event(1.1, "transport:datagrams_sent", raw=[{"length": 1200}]),
        of_group("b", packet(30, "transport:packet_received", 0), "handshake"),
        of_group("b", packet(30, "transport:packet_sent", 1), "initial"),
        of_group("b", packet(30, "transport:packet_sent", 0)),
        of_group("c", packet(60, "transport:packet_sent", 0), "initial"),
        of_group("c", packet(60, "transport:packet_sent", 0), "0RTT"),
        of_group("d", packet(90, "transport:packet_sent", 1)),
        of_group("b", packet(91, "transport:packet_sent", 2)),
        of_group("d", packet(120, "recovery:packet_lost", 0)),
        of_group("d", packet(121, "recovery:packet_lost", 1)),
    ],
    "receiver": [
        HEADER,
        event(14, "transport:datagrams_received", raw=[{"length": 1200}]),
        of_group("e", packet(14, "transport:packet_received", 0), "initial"),
        of_group("e", packet(44, "transport:packet_received", 0)),
        of_group("f", packet(74, "transport:packet_received", 0), "initial"),
        of_group("f", packet(75, "transport:packet_received", 0), "0RTT"),
        of_group("e", packet(105, "transport:packet_received", 1)),
    ],
}


def test_a_connection_is_the_same_whatever_its_id_at_each_end(tmp_path: Path) -> None:
    """No loss was spurious: the sender's IDs are more than the receiver's, and were counted."""
    for end, records in OF_QUINN.items():
        write(tmp_path / f"quic/f0-{end}.sqlog", records)
    flows: Any = (SimpleNamespace(id="f0"),)
    tables, first_payloads, faults = read_quic_logs(tmp_path, flows)
    assert faults == []
    assert list(tables["quic"].table["quic_spurious_loss_count"]) == [1, 0]
    assert first_payloads["f0"] == (1_000_060_000_000, 1_000_075_000_000)


def test_a_record_that_the_end_cuts_off_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "quic/f0-sender.sqlog", SENDER, end="")
    log = read_qlog(file)
    assert len(log.table) == 3
    place = file.read_text().rindex("\x1e")
    assert log.truncated_at == place
    _, _, faults = read_quic_logs(tmp_path, (SimpleNamespace(id="f0"),))  # type: ignore[arg-type]
    assert faults == [f"f0-sender.sqlog is cut off at byte {place}."]


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{**HEADER, "qlog_version": "9"}], "is qlog 9 as JSON-SEQ"),
        ([{**HEADER, "qlog_format": "JSON"}], "is qlog 0.3 as JSON"),
        (SENDER[1:], "does not begin with the header of a qlog"),
        ([HEADER, {"time": 1}], "not an event of qlog"),
        ([HEADER], "no recovery:metrics_updated"),
    ],
)
def test_mistakes_have_one_line(
    tmp_path: Path, records: list[dict[str, Any]], problem: str
) -> None:
    file = write(tmp_path / "quic/f0-sender.sqlog", records)
    with pytest.raises(UnreadableInput, match=problem) as refused:
        read_qlog(file)
    assert str(file) in str(refused.value)


def test_a_line_that_is_cut_off_inside_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "quic/f0-sender.sqlog", SENDER)
    lines = file.read_text().split("\n")[:-1]
    lines[2] = lines[2][:20]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UnreadableInput, match="not a record of JSON-SEQ") as refused:
        read_qlog(file)
    assert ":3" in str(refused.value)


def test_the_rtt_of_a_quic_sender_is_in_summary_text_and_comparison(tmp_path: Path) -> None:
    """Neither said anything of a QUIC flow's RTT."""
    run, other = (steady().write(tmp_path / name) for name in ("quic", "tcp"))
    samples = [event(10.0 * n, "recovery:metrics_updated", latest_rtt=20.0 + n) for n in range(5)]
    lost = packet(45, "recovery:packet_lost", 3)
    header = {**HEADER, "trace": {"common_fields": {"reference_time": T0 / 1e6}}}
    write(run / "raw/quic/f0-sender.sqlog", [header, *samples, lost])
    analyze(run, report=False)
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["quic_rtt_ms"]["mean"], summary["quic_rtt_ms"]["p50"]) == (22.0, 22.0)
    assert summary["flows"][0]["quic_rtt_ms"] == summary["quic_rtt_ms"]
    bins = open_run(run).aligned
    assert bins["quic_loss_count"].sum() == 1
    assert bins["quic_spurious_loss_count"].isna().all()
    heading, row, *_ = lines(run, summary)
    assert "RTT (QUIC) p50" in heading
    assert "22.0 ms" in row
    runs = load_runs([run, other], "run")
    assert "quic_rtt_ms" not in runs[1].summary
    assert "quic_rtt_ms.mean" in means_text(runs, usual_metrics(runs))
    assert usual_metrics(runs[1:]) == METRICS


def test_describe_knows_it(tmp_path: Path) -> None:
    read = read_log(write(tmp_path / "quic/any.sqlog", SENDER))
    assert read is not None
    assert read[0].name == "qlog"


@pytest.mark.parametrize(
    ("counted", "traffic", "expected_s"),
    [
        ({}, "quic:bbr+volume=5000B+0rtt", 0.515),
        ({}, "quic:volume=5000B", 0.515),
        ({"received_bytes": 4_999}, "quic:volume=5000B", None),
        ({"with_drain_s": None}, "quic:volume=5000B", None),
        ({}, "quic:bbr", None),
    ],
)
def test_the_time_of_a_volume_over_quic(
    tmp_path: Path, counted: dict[str, Any], traffic: str, expected_s: float | None
) -> None:
    """The first payload takes 15 ms on the run's clock, and the rest arrives within 500 ms, as the
    receiver counted."""
    made, ahead_ns = SyntheticRun(ccs=("quic-bbr",)), 7 * 10**9
    for number in range(5):
        packet_at, datagram = T0 + (60 + 100 * number) * MS, udp(*made.ends(0), 1000 + number)
        made.sender.add(packet_at, datagram)
        made.receiver.add(packet_at + 15 * MS + ahead_ns, datagram)
    (flow,) = made.manifest()["flows"]
    flow |= {"traffic": traffic, "received_bytes": 5_000, "with_drain_s": 0.5} | counted
    run = made.write(tmp_path / "run", flows=[flow], time={"offset_ns": ahead_ns})
    for end, records in OF_QUINN.items():
        start_ms = (T0 + (ahead_ns if end == "receiver" else 0)) / 1e6
        header = {"trace": {"common_fields": {"reference_time": start_ms}}}
        write(run / f"raw/quic/f0-{end}.sqlog", [HEADER | header, *records[1:]])
    analyze(run, report=False)
    summary = json.loads((run / "summary.json").read_text())
    assert summary.get("completion_s") == pytest.approx(expected_s)
    assert summary["flows"][0].get("completion_s") == pytest.approx(expected_s)
    of_volume = "volume" in traffic
    assert summary["flows"][0].get("volume_bytes") == (5_000 if of_volume else None)
    assert (" · 5 kB in 0.515 s" in "\n".join(lines(run, summary))) == bool(expected_s)
