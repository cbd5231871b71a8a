# SPDX-License-Identifier: Apache-2.0
"""The tables of real runs, compared with other programs' results on the same traffic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dpkt
import pandas as pd
import pytest

from testbed_testing.runs import Runs

pytestmark = pytest.mark.realtime

# A short queue: little is under way when iperf3 stops counting.
SHORT_QUEUE = ("--prb", "106", "--scenario", "static", "--duration", "6s", "--buffer", "150pkt")
TWO_FLOWS = (
    *("--flows", "cubic@0,reno@1", "--prb", "106", "--scenario", "static"),
    *("--duration", "5s", "--buffer", "600pkt"),
)


class Packet(NamedTuple):
    utc_s: float
    ports: tuple[int, int]
    payload_bytes: int
    acknowledges: bool
    tsval: int
    tsecr: int


def packets(capture: Path) -> Iterator[Packet]:
    """Return the TCP packets of a raw-IP capture, by dpkt alone, which rounds timestamps below 1
    µs."""
    with capture.open("rb") as file:
        for utc_s, frame in dpkt.pcap.Reader(file):
            ip = dpkt.ip.IP(frame)
            tcp = ip.data
            if not isinstance(tcp, dpkt.tcp.TCP):
                continue
            options = dict(dpkt.tcp.parse_opts(tcp.opts))
            stamps = options.get(dpkt.tcp.TCP_OPT_TIMESTAMP, bytes(8))
            payload = ip.len - 4 * ip.hl - 4 * tcp.off
            yield Packet(
                float(utc_s),
                (tcp.sport, tcp.dport),
                payload,
                bool(tcp.flags & dpkt.tcp.TH_ACK),
                int.from_bytes(stamps[:4], "big"),
                int.from_bytes(stamps[4:], "big"),
            )


def manifest(run: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((run / "run.json").read_text())
    return loaded


def ports(flow: dict[str, Any]) -> tuple[int, int]:
    return flow["sender"]["port"], flow["receiver"]["port"]


def rtts_ms(run: Path, flow: dict[str, Any]) -> list[float]:
    """Return the RTTs by TCP timestamps, packet by packet, as docs/metrics.md defines them."""
    forth = ports(flow)
    sent: dict[int, float] = {}
    back: dict[int, float] = {}
    for packet in packets(run / "raw/sender.pcap"):
        if packet.ports == forth and packet.payload_bytes:
            sent.setdefault(packet.tsval, packet.utc_s)
        elif packet.ports == forth[::-1] and packet.acknowledges:
            back.setdefault(packet.tsecr, packet.utc_s)
    return [(back[v] - sent[v]) * 1e3 for v in sent if v in back and back[v] >= sent[v]]


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_throughput_integrates_to_the_bytes_that_iperf3_received(
    runs: Runs, direction: str
) -> None:
    run = runs("--cc", "cubic", direction, *SHORT_QUEUE)
    table = pd.read_parquet(run / "tables/aligned.parquet")
    width_s = table["utc_ns"].drop_duplicates().diff().median() / 1e9
    integral = (table["tcp_throughput_bps"] * width_s).sum() / 8
    report = json.loads((run / "raw/iperf3-f0-server.json").read_text())
    # What was under way when iperf3 stopped counting was captured later.
    under_way = float(table["tcp_inflight_bytes"].max())
    received = report["end"]["sum_received"]["bytes"]
    assert received * 0.998 <= integral <= received * 1.002 + under_way
    assert under_way < 0.02 * received


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_rtts_are_those_that_dpkt_sees(runs: Runs, direction: str) -> None:
    run = runs("--cc", "cubic", direction, *SHORT_QUEUE)
    (flow,) = manifest(run)["flows"]
    expected = pd.Series(rtts_ms(run, flow))
    table = pd.read_parquet(run / "tables/aligned.parquet")
    counts = table["tcp_rtt_count"].fillna(0)
    mean_ms = (table["tcp_rtt_ms"] * counts).sum() / counts.sum()
    assert counts.sum() == len(expected)
    assert mean_ms == pytest.approx(expected.mean(), abs=1e-3)
    assert json.loads((run / "summary.json").read_text())["rtt_floor_ms"] == pytest.approx(
        expected.min(), abs=1e-3
    )


@pytest.mark.root
@pytest.mark.slow
def test_two_flows_are_two_and_their_fairness_is_jains(runs: Runs) -> None:
    """Control connections excluded; Jain's index over the time that both send."""
    run = runs(*TWO_FLOWS)
    flows = manifest(run)["flows"]
    assert [flow["cc_read_back"] for flow in flows] == ["cubic", "reno"]
    listed = pd.read_parquet(run / "tables/flows.parquet")
    data = listed[listed["role"] == "data"]  # one row for each capture
    assert set(zip(data["flow"], data["cc"], strict=True)) == {("f0", "cubic"), ("f1", "reno")}
    assert set(listed.loc[listed["role"] == "control", "flow"]) == {None}

    arrivals = {flow["id"]: [] for flow in flows}
    by_ports = {ports(flow): flow["id"] for flow in flows}
    for packet in packets(run / "raw/receiver.pcap"):
        if packet.ports in by_ports and packet.payload_bytes:
            arrivals[by_ports[packet.ports]].append((packet.utc_s, packet.payload_bytes))
    first = max(times[0][0] for times in arrivals.values())
    last = min(times[-1][0] for times in arrivals.values())
    x, y = (
        sum(size for utc_s, size in times if first <= utc_s <= last) for times in arrivals.values()
    )
    jain = (x + y) ** 2 / (2 * (x**2 + y**2))
    summary = json.loads((run / "summary.json").read_text())
    assert summary["jain_throughput"] == pytest.approx(jain, rel=0.01)


@pytest.mark.root
@pytest.mark.slow
def test_the_kernels_own_smoothed_rtt_agrees(runs: Runs) -> None:
    """tcpi_rtt, the sender's estimate (RFC 6298), follows the RTTs of the capture."""
    run = runs("--cc", "cubic", "--dl", *SHORT_QUEUE)
    table = pd.read_parquet(run / "tables/aligned.parquet")
    steady = table[table["t_s"].between(2, 5)]
    assert steady["tcp_srtt_ms"].mean() == pytest.approx(steady["tcp_rtt_ms"].mean(), rel=0.05)
