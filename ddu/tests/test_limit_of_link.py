# SPDX-License-Identifier: Apache-2.0
"""The line of what the link could carry in the report: only where it is one UE's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ddu.report.figures import timeline
from testsupport.synthetic_run import MS


def limits(ue_bytes: list[int]) -> list[list[float]]:
    """Return the lines of two flows over UEs that could have 24 Mbit/s each and have so much data
    each 20 ms for 2 s; UE 2 has some before."""
    t_s = np.arange(0, 2, 0.02)
    columns = {"cc": "cubic", "tcp_throughput_bps": 1e6, "mac_dl_capacity_sdu_bps": 24e6}
    times = {"utc_ns": (t_s * 1e9).round().astype(np.int64), "t_s": t_s}
    flows = [pd.DataFrame({**times, "flow": flow, **columns}) for flow in ("f0", "f1")]
    mac = [
        pd.DataFrame({**times, "ue": ue, "duration_ns": 20 * MS, "mac_dl_sdu_bytes": size})
        for ue, size in enumerate(ue_bytes)
    ]
    mac.append(pd.DataFrame({"t_s": [-0.02], "ue": [1], "mac_dl_sdu_bytes": [100]}))
    plots = timeline(pd.concat(flows, ignore_index=True), "dl", mac=pd.concat(mac)).plots
    return [list(one.y) for plot in plots for one in plot.series if one.kind == "limit"]


def test_the_capacity_of_the_one_ue_with_data_is_the_limit() -> None:
    (line,) = limits([20_000, 0])
    assert line == pytest.approx([24] * len(line))


def test_the_capacity_of_one_of_several_ues_is_no_limit() -> None:
    """Two UEs over a constant capacity of 24 Mbit/s each had 48, below a line at 24."""
    assert limits([50_000, 50_000]) == []
