# SPDX-License-Identifier: Apache-2.0
"""Several UEs: each has its own flow, device and radio counters."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from testbed_testing.runs import Runs

pytestmark = pytest.mark.realtime

UES = 3


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("direction", ["dl", "ul"])
def test_each_flow_is_in_the_counters_of_its_own_ue(runs: Runs, direction: str) -> None:
    run = runs(
        *("--cc", "cubic", f"--{direction}", "--ues", str(UES)),
        *("--scenario", "static", "--duration", "4s"),
    )
    mac = pd.read_csv(run / "raw/mac.csv")
    delivered = mac.groupby("ue")[f"mac_{direction}_sdu_bytes"].last()
    flows = json.loads((run / "run.json").read_text())["flows"]
    assert sorted(delivered.index) == [flow["ue"] for flow in flows] == list(range(UES))
    received = []
    for flow in flows:
        report = json.loads((run / f"raw/iperf3-{flow['id']}-server.json").read_text())
        received.append(report["end"]["sum_received"]["bytes"])
    for flow, payload in zip(flows, received, strict=True):
        # IP packets carry the payload, and what was still under way at the end.
        assert payload < delivered[flow["ue"]] < 1.5 * payload
    # Equal channels, turn by turn: the PRBs of a slot are shared out.
    prb = mac.groupby("ue")[f"mac_{direction}_prb_count"].last()
    assert prb.max() < 1.3 * prb.min()
    table = pd.read_parquet(run / "tables/aligned.parquet")
    own = table.groupby("flow")[f"mac_{direction}_sdu_bytes"].sum()
    for flow in flows:
        assert own[flow["id"]] <= delivered[flow["ue"]]
        assert own[flow["id"]] > 0.5 * delivered[flow["ue"]]
