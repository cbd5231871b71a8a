# SPDX-License-Identifier: Apache-2.0
"""`--traffic quic` in virtual time: the same bytes each time; qlog agrees with the captures."""

from __future__ import annotations

import hashlib
import itertools
import json
import statistics
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ddu.api import analyze
from ddu.readers.qlog import read_qlog
from testsupport.prepared import command

SHORT = ("--testbed", "virtual", "--prb", "24", "--scenario", "static", "--no-report")
OF_THE_MACHINE = {"virtual.json", "virtual-plan.json"}


def run(output: Path, *arguments: object) -> Path:
    said = command("ccu", "run", *SHORT, *arguments, "--output", output)
    assert said.returncode == 0, said.stderr
    (path,) = output.iterdir()
    return path


def digests(run: Path) -> dict[str, str]:
    files = (one for one in (run / "raw").rglob("*") if one.is_file() and one.parent.name != "logs")
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in files
        if one.name not in OF_THE_MACHINE
    }


def test_quic_beside_tcp_gives_the_same_bytes_each_time(kernel: Path, tmp_path: Path) -> None:
    words = ("--flows", "cubic@0,quic:bbr@1", "--duration", "3s")
    first, second = (run(tmp_path / name, *words) for name in ("first", "second"))
    assert digests(first) == digests(second)
    assert {"f1-sender.sqlog", "f1-receiver.keys", "sender.pcap"} <= digests(first).keys()
    flows = json.loads((first / "run.json").read_text())["flows"]
    assert [one["cc"] for one in flows] == ["cubic", "quic-bbr"]
    assert all(one["received_bytes"] > 1e6 for one in flows)
    analyze(first, report=False)
    aligned = pd.read_parquet(first / "tables/aligned.parquet")
    of_quic = aligned[aligned["flow"] == "f1"]
    assert of_quic["quic_cwnd_bytes"].max() > 12_000
    assert of_quic["quic_srtt_ms"].dropna().iloc[-1] > 20
    assert aligned.loc[aligned["flow"] == "f0", "quic_cwnd_bytes"].isna().all()


def test_a_policy_decides_for_quic_as_for_tcp(kernel: Path, tmp_path: Path) -> None:
    words = ("--cc", "quic:constant.py+rate_mbps=10", "--duration", "2s")
    first, second = (run(tmp_path / name, *words) for name in ("first", "second"))
    assert digests(first) == digests(second)
    raw = first / "raw/quic"
    sent = json.loads((raw / "f0-sender.json").read_text())
    lasts_s = sent["sending_s"] - sent["handshake_s"]
    assert sent["udp_bytes"] * 8e-6 / lasts_s == pytest.approx(10, rel=0.01)
    counters = sent["policy"]
    assert counters["reports_lost"] == counters["fallbacks"] == 0 < counters["commands"]
    trace = pd.read_csv(raw / "f0-sender.policy.csv")
    assert list(trace["event"].iloc[[0, -1]]) == ["start", "end"]
    assert trace["delivered_packets"].is_monotonic_increasing
    acks = trace[trace["event"] == "acks"]
    began, ended = acks.iloc[20], acks.iloc[-1]
    bits = (ended["delivered_packets"] - began["delivered_packets"]) * sent["path_mtu_bytes"] * 8
    assert bits / (ended["utc_ns"] - began["utc_ns"]) == pytest.approx(10e-3, rel=0.02)
    rtts = read_qlog(raw / "f0-sender.sqlog").table["quic_rtt_ms"].dropna()
    assert acks["rtt_us"].median() / 1000 == pytest.approx(rtts.median(), rel=0.1)


def test_what_a_policy_decides_for_quic_is_beside_its_flow(kernel: Path, tmp_path: Path) -> None:
    flows = "quic:constant.py+rate_mbps=4@0,quic:constant.py+rate_mbps=8@1"
    made = run(tmp_path / "runs", "--flows", flows, "--duration", "3s")
    analyze(made, report=False)
    aligned = pd.read_parquet(made / "tables/aligned.parquet")
    for flow, rate_bps in (("f0", 4e6), ("f1", 8e6)):
        asked = aligned.loc[aligned["flow"] == flow, "cc_told_pacing_bps"].dropna()
        assert len(asked) > 10
        assert set(asked) == {rate_bps}


@pytest.mark.parametrize("words", ["streams=2", "0rtt"])
def test_a_volume_has_the_time_that_it_took(kernel: Path, tmp_path: Path, words: str) -> None:
    cc = f"quic:cubic+{words}+volume=500kB"
    made = run(tmp_path / "runs", "--cc", cc, "--duration", "5s")
    sent, received = (
        json.loads((made / f"raw/quic/f0-{end}.json").read_text()) for end in ("sender", "receiver")
    )
    summary = analyze(made, report=False)
    assert summary["flows"][0]["volume_bytes"] == received["received_bytes"] == 500_000
    # Later than the receiver's first payload by the way there, ahead of the last ACK by the way
    # back: at least 10 ms each.
    began_s = 0 if sent["zero_rtt"] else sent["handshake_s"]
    least_s, most_s = received["receiving_s"] + 0.01, sent["sending_s"] - began_s - 0.01
    assert least_s < summary["completion_s"] < most_s < least_s + 0.05
    assert summary["completion_s"] == summary["flows"][0]["completion_s"]


def test_a_change_of_the_link_changes_nothing_before(kernel: Path, tmp_path: Path) -> None:
    words = ("--cc", "quic:newreno", "--buffer", "30pkt", "--duration", "3s")
    base = run(tmp_path / "base", *words)
    changed = run(tmp_path / "changed", *words, "--change", "1.5s:rtt=80ms")
    (one,) = json.loads((changed / "run.json").read_text())["changes"]
    columns = ["quic_cwnd_bytes", "quic_in_flight_bytes", "quic_rtt_ms"]
    logs = (read_qlog(path / "raw/quic/f0-sender.sqlog").table for path in (base, changed))
    before, after = (log.set_index("utc_ns")[columns] for log in logs)
    same = before.loc[: one["utc_ns"]]
    assert len(same) > 100
    pd.testing.assert_frame_equal(same, after.loc[: one["utc_ns"]])
    # 20 ms of the path, 15 of the queue and some of the radio; then 80 of the path.
    last_ms = [log["quic_rtt_ms"].dropna().iloc[-1] for log in (before, after)]
    assert last_ms[0] < 80 < last_ms[1]


def test_a_policy_that_fails_during_a_flow_is_named(kernel: Path, tmp_path: Path) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(
        "class Mine:\n"
        "    def report(self, flow, report):\n"
        "        flow.cwnd = 10 / (report.delivered < 100)\n"
    )
    words = (*SHORT, "--cc", f"quic:{policy}", "--duration", "2s")
    said = command("ccu", "run", *words, "--output", tmp_path / "runs")
    assert said.returncode == 1
    assert "the policy ended with ZeroDivisionError: division by zero (line 3)" in said.stderr


def captured(raw: Path, role: str, *fields: str) -> list[list[str]]:
    """Return fields of the packets of a capture."""
    arguments = ["tshark", "-r", raw / f"{role}.pcap", "-Y", "udp", "-T", "fields"]
    arguments += [word for name in fields for word in ("-e", name)]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in printed.stdout.splitlines()]


def events(file: Path, name: str) -> list[dict[str, Any]]:
    records = map(json.loads, file.read_text().split("\x1e")[1:])
    return [one["data"] for one in records if one.get("name") == name]


def numbers(file: Path, name: str) -> set[int]:
    headers = [one["header"] for one in events(file, name)]
    return {int(one["packet_number"]) for one in headers if one["packet_type"] == "1RTT"}


def datagrams_bytes(file: Path) -> list[int]:
    names = "transport:datagrams_sent", "transport:datagrams_received"
    data = [one for name in names for one in events(file, name)]
    return [int(raw["length"]) for one in data for raw in one["raw"]]


def test_qlog_and_captures_agree(kernel: Path, tmp_path: Path) -> None:
    words = ("--cc", "quic:cubic", "--duration", "2s", "--buffer", "30pkt")
    raw = run(tmp_path / "runs", *words) / "raw"
    logs = {role: raw / f"quic/f0-{role}.sqlog" for role in ("sender", "receiver")}
    for role, log in logs.items():
        lengths = [int(row[0]) - 8 for row in captured(raw, role, "udp.length")]
        logged = datagrams_bytes(log)
        assert (len(lengths), sum(lengths)) == (len(logged), sum(logged))
    # Losses: data that is in the sender's capture only is data that the receiver's qlog lacks.
    from_server = [
        sum(row[0] == "10.45.0.1" for row in captured(raw, role, "ip.src")) for role in logs
    ]
    missing = numbers(logs["sender"], "transport:packet_sent") - numbers(
        logs["receiver"], "transport:packet_received"
    )
    assert 10 < from_server[0] - from_server[1] <= len(missing)
    lost = numbers(logs["sender"], "recovery:packet_lost")
    assert {one for one in missing if one < max(lost)} <= lost
    # RTT: the spin bit of the sender's packets turns once a round trip (RFC 9000 section 17.4).
    edges, last = [], ""
    for source, at, spin in captured(raw, "sender", "ip.src", "frame.time_epoch", "quic.spin_bit"):
        if source == "10.45.0.1" and spin and spin != last:
            edges.append(float(at))
            last = spin
    turns_ms = [(after - before) * 1e3 for before, after in itertools.pairwise(edges)]
    assert len(turns_ms) > 10
    rtts = read_qlog(logs["sender"]).table["quic_rtt_ms"].dropna()
    assert statistics.median(turns_ms) == pytest.approx(rtts.median(), rel=0.25)


def decrypted(raw: Path, role: str, *fields: str) -> list[list[str]]:
    """Return fields of the packets of a capture, which the sender's key log decrypts."""
    keys = ["-o", f"tls.keylog_file:{raw / 'quic/f0-sender.keys'}"]
    arguments = ["tshark", "-r", raw / f"{role}.pcap", *keys, "-T", "fields"]
    arguments += [word for name in fields for word in ("-e", name)]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in printed.stdout.splitlines()]


def test_the_key_log_decrypts_captures_of_whole_packets(kernel: Path, tmp_path: Path) -> None:
    words = ("--cc", "quic:newreno", "--duration", "1s", "--buffer", "30pkt", "--snaplen", "1500")
    raw = run(tmp_path / "runs", *words) / "raw"
    form = "quic.header_form"  # 0: a packet of 1-RTT alone in its datagram
    shown = (
        "ip.src",
        "frame.time_epoch",
        form,
        "quic.packet_number",
        "quic.ack.largest_acknowledged",
    )
    departed = Counter[str]()
    times: dict[str, float] = {}
    rtts_ms: dict[str, float] = {}
    for source, at, header, numbers, largest in decrypted(raw, "sender", *shown):
        if source == "10.45.0.1":
            departed.update(numbers.split(","))
            times |= {numbers: float(at)} if header == "0" else {}
        elif header == "0" and largest in times:
            rtts_ms.setdefault(largest, (float(at) - times[largest]) * 1e3)
    log = raw / "quic/f0-sender.sqlog"
    records = [json.loads(one) for one in log.read_text().split("\x1e")[1:]]
    sent = [one["data"] for one in records if one.get("name") == "transport:packet_sent"]
    assert departed == Counter(str(one["header"]["packet_number"]) for one in sent)
    # RTT: from the departure of a packet to the ACK that has it as the newest.
    said = read_qlog(log).table["quic_rtt_ms"].dropna()
    assert statistics.median(rtts_ms.values()) == pytest.approx(said.median(), rel=0.05)
    assert min(rtts_ms.values()) == pytest.approx(said.min(), rel=0.01)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--cc", "quic:./none.py", "--dry-run"], "./none.py: no such file"),
        (["--cc", "quic:constant.py+rate=5"], "Constant has no parameter rate"),
        (["--cc", "quic:bbr9", "--dry-run"], "no word of quic:SPEC 'bbr9'"),
        (
            ["--cc", "quic:cubic", "--mss", "1000", "--dry-run"],
            "Choose an MSS of 1188 bytes and more",
        ),
    ],
)
def test_refusals(kernel: Path, tmp_path: Path, words: list[str], problem: str) -> None:
    """Parameters are the policy's own, which only a run executes."""
    ended = command("ccu", "run", *words, "--output", tmp_path)
    assert ended.returncode == 2
    assert problem in ended.stderr
    assert not list(tmp_path.iterdir())


def test_the_last_datagrams_of_a_volume_are_sent_before_the_end(
    kernel: Path, tmp_path: Path
) -> None:
    """A volume that fits into the connection's buffer ended before its handshake was over."""
    path = run(tmp_path / "runs", "--cc", "quic:cubic+datagrams+volume=500kB", "--duration", "5s")
    (flow,) = json.loads((path / "run.json").read_text())["flows"]
    assert 500_000 <= flow["received_bytes"] < 502_000
