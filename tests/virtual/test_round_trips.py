# SPDX-License-Identifier: Apache-2.0
"""Round-trip times: their floor, and the same figure from three sources."""

from __future__ import annotations

import pandas as pd
import pytest

from testsupport.dpkt_packets import rtts_ms
from testsupport.runs import Runs, json_of

STATIC = ("--prb", "106", "--scenario", "static")
SHORT_QUEUE = (*STATIC, "--duration", "4s", "--buffer", "150pkt")


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_the_floor_is_the_path_and_the_macs_own_delay(experiments: Runs, direction: str) -> None:
    summary = experiments.summary("--cc", "reno", direction, *STATIC, "--duration", "5s")
    mac_ms = summary["mac_floor_ms"]["dl"] + summary["mac_floor_ms"]["ul"]
    extra_ms = summary["rtt_floor_ms"] - summary["path_rtt_ms"]
    assert 0 <= extra_ms <= mac_ms + 1.0


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_rtts_are_those_that_dpkt_sees(experiments: Runs, direction: str) -> None:
    arguments = ("--cc", "cubic", direction, *SHORT_QUEUE)
    run, table = experiments(*arguments), experiments.table(*arguments)
    (flow,) = json_of(run / "run.json")["flows"]
    ports = flow["sender"]["port"], flow["receiver"]["port"]
    expected = pd.Series(rtts_ms(run / "raw/sender.pcap", ports))
    counts = table["tcp_rtt_count"].fillna(0)
    mean_ms = (table["tcp_rtt_ms"] * counts).sum() / counts.sum()
    assert counts.sum() == len(expected)
    assert mean_ms == pytest.approx(expected.mean(), abs=1e-3)
    floor_ms = experiments.summary(*arguments)["rtt_floor_ms"]
    assert floor_ms == pytest.approx(expected.min(), abs=1e-3)


def test_the_kernels_own_smoothed_rtt_agrees(experiments: Runs) -> None:
    """tcpi_rtt, the sender's estimate (RFC 6298), follows the RTTs of the capture."""
    table = experiments.table("--cc", "cubic", "--dl", *SHORT_QUEUE)
    steady = table[table["t_s"].between(1, 3.5)]
    assert steady["tcp_srtt_ms"].mean() == pytest.approx(steady["tcp_rtt_ms"].mean(), rel=0.05)
