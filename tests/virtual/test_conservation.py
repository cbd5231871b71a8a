# SPDX-License-Identifier: Apache-2.0
"""Bytes are neither made nor lost on the way through link, captures and tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from testsupport.prepared import command
from testsupport.runs import Runs, flow_report, json_of

# A short queue: little is under way when iperf3 stops counting.
SHORT_QUEUE = ("--prb", "106", "--scenario", "static", "--duration", "4s", "--buffer", "150pkt")
SATURATING = ("--prb", "106", "--traffic", "udp:250M", "--scenario", "static", "--duration", "3s")


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_throughput_integrates_to_the_bytes_that_were_received(
    experiments: Runs, direction: str
) -> None:
    arguments = ("--cc", "cubic", direction, *SHORT_QUEUE)
    table = experiments.table(*arguments)
    width_s = table["utc_ns"].drop_duplicates().diff().median() / 1e9
    integral = (table["tcp_throughput_bps"] * width_s).sum() / 8
    received = flow_report(experiments(*arguments))["received_bytes"]
    # What was under way when the receiver stopped counting was captured later.
    under_way = float(table["tcp_inflight_bytes"].max())
    assert received <= integral <= received + under_way
    assert under_way < 0.05 * received


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_udp_saturation_is_what_the_mac_says_it_carried(experiments: Runs, direction: str) -> None:
    """The MAC's bytes are the receiver's bytes and headers; what it could carry, it carried."""
    summary = experiments.summary(direction, *SATURATING)
    checks = summary["cross_checks"]
    assert summary["utilisation_ratio"] == pytest.approx(1.0, abs=0.01)
    assert checks["mac_sdu_bytes"] == pytest.approx(checks["receiver_ip_bytes"], rel=0.005)


def test_a_flow_of_a_volume_ends_with_it(experiments: Runs) -> None:
    arguments = ("--cc", "cubic", "--traffic", "tcp:40MB", "--scenario", "constant-100M")
    run = experiments.analysed(*arguments, "--duration", "20s")
    sent_bytes = flow_report(run)["sent_bytes"]
    # As iperf3, it sends whole blocks of 128 KiB.
    assert 40e6 <= sent_bytes < 40e6 + 2**17
    (flow,) = json_of(run / "summary.json")["flows"]
    assert 40e6 * 8 / 100e6 < flow["duration_s"] < 5


def test_a_volume_that_takes_longer_than_the_run_is_an_error(kernel: Path, tmp_path: Path) -> None:
    """40 MB take 3.2 s at least."""
    link = ("--testbed", "virtual", "--scenario", "constant-100M", "--duration", "2s")
    flow = ("--cc", "cubic", "--traffic", "tcp:40MB")
    ran = command("ccu", "run", "--no-report", *link, *flow, "--output", str(tmp_path))
    assert ran.returncode != 0
    assert "flow f0" in ran.stderr


@pytest.mark.parametrize("direction", ["dl", "ul"])
def test_each_flow_is_in_the_counters_of_its_own_ue(experiments: Runs, direction: str) -> None:
    cell = ("--ues", "3", "--scenario", "static", "--duration", "4s")
    run = experiments.analysed("--cc", "cubic", f"--{direction}", *cell)
    mac = pd.read_csv(run / "raw/mac.csv")
    delivered = mac.groupby("ue")[f"mac_{direction}_sdu_bytes"].last()
    flows = json_of(run / "run.json")["flows"]
    assert sorted(delivered.index) == [flow["ue"] for flow in flows] == [0, 1, 2]
    table = pd.read_parquet(run / "tables/aligned.parquet")
    own = table.groupby("flow")[f"mac_{direction}_sdu_bytes"].sum()
    for flow in flows:
        payload = flow_report(run, flow["id"])["received_bytes"]
        # IP packets carry the payload, and what was still under way at the end.
        assert payload < delivered[flow["ue"]] < 1.2 * payload
        assert 0.8 * delivered[flow["ue"]] < own[flow["id"]] <= delivered[flow["ue"]]
    # Equal channels, turn by turn: the PRBs of a slot are shared out.
    prb = mac.groupby("ue")[f"mac_{direction}_prb_count"].last()
    assert prb.max() < 1.1 * prb.min()
