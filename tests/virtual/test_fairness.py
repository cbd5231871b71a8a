# SPDX-License-Identifier: Apache-2.0
"""Flows that share a link: who they are, their fairness, and that a late one gets its share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from testsupport.dpkt_packets import packets
from testsupport.runs import Runs, json_of

CELL = ("--prb", "106", "--scenario", "static")
SLOW = Path(__file__).parents[1] / "scenarios/constant-20M.yaml"
LATE = 3
"""Start of the second flow in s."""


def jain(rates: list[float]) -> float:
    """Jain's index (DEC-TR-301, equation 1)."""
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def payloads(run: Path, flows: list[dict[str, Any]]) -> dict[str, list[tuple[float, int]]]:
    """Arrivals of each flow at its receiver: time and bytes."""
    arrivals: dict[str, list[tuple[float, int]]] = {flow["id"]: [] for flow in flows}
    ids = {(flow["sender"]["port"], flow["receiver"]["port"]): flow["id"] for flow in flows}
    for packet in packets(run / "raw/receiver.pcap"):
        if packet.ports in ids and packet.payload_bytes:
            arrivals[ids[packet.ports]].append((packet.utc_s, packet.payload_bytes))
    return arrivals


def test_two_flows_are_two_and_their_fairness_is_jains(experiments: Runs) -> None:
    """Jain's index over the time that both send."""
    two = ("--flows", "cubic@0,reno@1", *CELL, "--duration", "5s", "--buffer", "600pkt")
    run = experiments.analysed(*two)
    flows = json_of(run / "run.json")["flows"]
    assert [flow["cc_read_back"] for flow in flows] == ["cubic", "reno"]
    listed = pd.read_parquet(run / "tables/flows.parquet")
    data = listed[listed["role"] == "data"]  # one row for each capture
    assert set(zip(data["flow"], data["cc"], strict=True)) == {("f0", "cubic"), ("f1", "reno")}

    arrivals = payloads(run, flows)
    first = max(times[0][0] for times in arrivals.values())
    last = min(times[-1][0] for times in arrivals.values())
    both = [
        sum(size for utc_s, size in times if first <= utc_s <= last) for times in arrivals.values()
    ]
    expected = jain([float(size) for size in both])
    assert experiments.summary(*two)["jain_throughput"] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("cc", ["reno", "cubic", "reminis"])
def test_a_late_flow_converges_to_its_share(experiments: Runs, cc: str) -> None:
    flows = f"{cc}@0,{cc}@{LATE}"
    link = ("--scenario", str(SLOW), "--rtt", "20ms", "--buffer", "60pkt")
    table = experiments.table("--flows", flows, *link, "--duration", "40s", "--seed", "1")
    # Reno halves the difference of two windows each time both are cut, here every two seconds.
    final = table[table["t_s"] > 15].groupby("flow")["tcp_throughput_bps"].mean()
    assert jain(list(final)) > 0.95
    assert final.sum() > 0.8 * 20e6
