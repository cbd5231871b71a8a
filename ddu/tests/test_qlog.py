# SPDX-License-Identifier: Apache-2.0
"""qlog: versions, records that are cut off, and losses that were none."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ddu.api import analyze
from ddu.compare.load import load_runs
from ddu.compare.tables import METRICS, means_text, usual_metrics
from ddu.errors import UnreadableInput
from ddu.readers.formats import read_log
from ddu.readers.qlog import read_qlog, read_quic_logs
from ddu.report.text import lines
from testsupport.synthetic_run import T0, steady

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
    tables, faults = read_quic_logs(tmp_path, (SimpleNamespace(id="f0"),))  # type: ignore[arg-type]
    assert faults == []
    rows = tables["quic"].table
    assert list(rows["quic_cwnd_bytes"]) == [12_000, 12_000, 12_000, 6_000]
    assert list(rows["quic_srtt_ms"]) == [25.5] * 4
    assert list(rows["quic_loss_count"]) == [0, 1, 1, 0]
    assert list(rows["quic_spurious_loss_count"]) == [0, 0, 1, 0]
    assert rows["utc_ns"].iloc[-1] == 1_000_032_000_001


def test_a_record_that_the_end_cuts_off_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "quic/f0-sender.sqlog", SENDER, end="")
    log = read_qlog(file)
    assert len(log.table) == 3
    place = file.read_text().rindex("\x1e")
    assert log.truncated_at == place
    _, faults = read_quic_logs(tmp_path, (SimpleNamespace(id="f0"),))  # type: ignore[arg-type]
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
