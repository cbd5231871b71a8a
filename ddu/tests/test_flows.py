# SPDX-License-Identifier: Apache-2.0
"""The connections of the experiment, and how fairly they share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ddu.analyze import analysis_of
from ddu.metrics.fairness import jain
from testsupport.synthetic_run import MS, T0, SyntheticRun, steady, udp


def two_flows() -> SyntheticRun:
    """f0 sends 3000 B where f1 sends 1000 B."""
    run = SyntheticRun(ccs=("cubic", "reno"))
    for index in range(100):
        for flow, size in ((0, 1200), (1, 400)):
            run.data(index * MS, index * size, size, index, (index + 10) * MS, flow)
    return run


def test_jain_of_two_flows_is_the_hand_calculation(tmp_path: Path) -> None:
    analysis = analysis_of(two_flows().write(tmp_path / "run"))
    # (1200 + 400)² / (2·(1200² + 400²)) = 2 560 000 / 3 200 000
    assert analysis.summary["jain_throughput"] == pytest.approx(0.8)
    assert analysis.tables["aligned"]["jain_throughput"].iloc[2] == pytest.approx(0.8)


def test_jain_needs_two_flows_with_something() -> None:
    nan = float("nan")
    index = jain(np.array([[1.0, 1.0, 0.0], [nan, 1.0, 0.0]]))
    assert np.isnan(index[0])
    assert index[1] == 1
    assert np.isnan(index[2])


def test_control_connections_are_no_data(tmp_path: Path) -> None:
    run = steady()
    run.control(1000)
    analysis = analysis_of(run.write(tmp_path / "run"))
    assert analysis.summary["jain_throughput"] is None
    assert analysis.summary["flows"][0]["received_payload_bytes"] == 100 * 1448
    roles = analysis.tables["flows"].query("capture_host == 'ue'").set_index("sport")["role"]
    assert roles[50999] == "control"
    assert roles[40001] == "data"


def test_udp_has_rates_and_no_tcp_metrics(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.control(100)
    for index in range(50):
        packet = udp(*run.ends(0), 1000)
        run.sender.add(T0 + index * MS, packet)
        run.receiver.add(T0 + (index + 10) * MS, packet)
    analysis = analysis_of(run.write(tmp_path / "run"))
    aligned = analysis.tables["aligned"]
    assert aligned["tcp_throughput_bps"].sum() * 0.020 / 8 == pytest.approx(50_000)
    assert aligned["tcp_sending_rate_bps"].sum() * 0.020 / 8 == pytest.approx(50 * 1028)
    assert aligned["tcp_retransmissions_count"].isna().all()
    assert analysis.summary["retransmissions_count"] is None
    assert analysis.summary["rtt_ms"]["mean"] is None
