# SPDX-License-Identifier: Apache-2.0
"""The account of the built-in traffic in virtual time fills the table of iperf3's intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ddu.readers.nr_link_flows import read_nr_link_flows, received_bytes

TCP_STATE = {
    "retransmissions": 3,
    "cwnd_bytes": 14_480,
    "send_window_bytes": 65_536,
    "rtt_us": 20_500,
    "rtt_variation_us": 700,
    "path_mtu_bytes": 1500,
}


def interval(start_s: float, end_s: float, **more: Any) -> dict[str, Any]:
    return {
        "start_s": start_s,
        "end_s": end_s,
        "bytes": 1000,
        "tcp": None,
        "datagrams": None,
    } | more


def written(folder: Path, *flows: dict[str, Any]) -> Path:
    content = {"schema": "nr-link-flows/1", "flows": list(flows)}
    (folder / "flows.json").write_text(json.dumps(content))
    return folder


def test_each_end_of_a_tcp_flow(tmp_path: Path) -> None:
    flow = {
        "id": "f0",
        "start_utc_ns": 10**18 + 30_000_000,
        "received_bytes": 900,
        "sender": [interval(0.0, 0.5, tcp=TCP_STATE)],
        "receiver": [interval(0.5, 0.5)],
    }
    raw = written(tmp_path, flow)
    assert received_bytes(raw, "f0") == 900
    assert received_bytes(raw, "f1") is None
    source = read_nr_link_flows(raw)
    assert source is not None
    sent, read = source.table.to_dict("records")
    assert (sent["flow"], sent["end"], sent["sender"], sent["utc_ns"]) == (
        "f0",
        "client",
        1,
        10**18,
    )
    assert (sent["duration_ns"], sent["iperf3_rate_bps"]) == (500_000_000, 16_000)
    assert (sent["iperf3_retransmissions_count"], sent["iperf3_cwnd_bytes"]) == (3, 14_480)
    assert (read["end"], read["utc_ns"], read["iperf3_rate_bps"]) == (
        "server",
        10**18 + 5 * 10**8,
        0,
    )


def test_datagrams_lost_and_received(tmp_path: Path) -> None:
    seen = {"received": 90, "lost": 10, "out_of_order": 0, "jitter_ms": 0.25}
    flow = {
        "id": "f0",
        "start_utc_ns": 10**18,
        "received_bytes": 900,
        "sender": [interval(0.0, 1.0, datagrams={**seen, "received": 100, "lost": 0})],
        "receiver": [interval(0.0, 1.0, datagrams=seen)],
    }
    source = read_nr_link_flows(written(tmp_path, flow))
    assert source is not None
    sent, read = source.table.to_dict("records")
    assert sent["iperf3_packets_count"] == read["iperf3_packets_count"] == 100
    assert (read["iperf3_lost_count"], read["lost_percent"]) == (10, 10.0)
    assert read["iperf3_jitter_ms"] == 0.25


@pytest.mark.parametrize("content", ["", "[]", '{"schema": "nr-link-flows/2", "flows": [{}]}'])
def test_other_files_are_no_account(tmp_path: Path, content: str) -> None:
    (tmp_path / "flows.json").write_text(content)
    assert read_nr_link_flows(tmp_path) is None
    assert received_bytes(tmp_path, "f0") is None
