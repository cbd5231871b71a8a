# SPDX-License-Identifier: Apache-2.0
"""Values that a line or a bar of a figure could hide."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pandas as pd

from ddu.report import plotly, svg
from ddu.report.delay_parts import delay_parts
from ddu.report.figure import Figure, Plot, Series
from ddu.report.figures import timeline
from ddu.report.wider_bins import in_wider_bins
from ddu.tables.columns import column

RED = "#d55e00"


def test_values_between_two_gaps_are_dots() -> None:
    y = np.array([1.0, np.nan, 2.0, 3.0, np.nan, 4.0])
    figure = Figure([Plot([Series(np.arange(6.0), y, RED)])], 1, 200)
    (path,) = re.findall(rf'<path d="([^"]+)" fill="none" stroke="{RED}"', svg.rendered(figure))
    assert [part.endswith("h0") for part in path[1:].split("M")] == [True, False, True]
    (trace,) = plotly.rendered(figure)["data"]
    assert trace["mode"] == "lines+markers"
    assert trace["marker"]["size"] == [3, 0, 0, 0, 0, 3]


def test_bars_of_negative_numbers_stay_within_the_picture() -> None:
    bars = Series(np.array([0.0, 1.0]), np.array([-95.0, -100.0]), RED, kind="bars")
    figure = Figure([Plot([bars], y_from_zero=True, x_names=["a", "b"])], 1, 340)
    paths = re.findall(rf'<path d="([^"]+)"[^>]*{RED}', svg.rendered(figure))
    assert len(paths) == 2
    assert "-" not in "".join(paths)


def test_bins_of_milliseconds_differ_after_hours() -> None:
    t_s = np.arange(100) * 0.02 + 14_400
    aligned = pd.DataFrame({
        "utc_ns": (t_s * 1e9).round().astype(np.int64), "t_s": t_s, "flow": "f0", "cc": "cubic",
        "tcp_throughput_bps": 1e6,
    })  # fmt: skip
    drawn = plotly.rendered(timeline(aligned, "dl"))
    x = drawn.get("narrower", drawn)["data"][0]["x"]
    assert all(one < other for one, other in pairwise(x))


def test_losses_of_quic_add_up_in_wider_bins() -> None:
    rows = pd.DataFrame({
        "t_s": np.arange(10) * 0.02, "flow": "f0", "cc": "quic",
        "quic_loss_count": [3.0] + [0.0] * 8 + [2.0],
    })  # fmt: skip
    panel = column("quic_loss_count").panel
    assert panel is not None
    assert in_wider_bins(rows, {"quic_loss_count": panel}, 10)["quic_loss_count"].tolist() == [5]


def test_the_legend_names_each_part_of_the_delay_once() -> None:
    parts = {"delay_queue_ms": 5.0, "delay_path_ms": 3.0, "delay_ack_path_ms": 2.0}
    one = {"t_s": np.arange(50) * 0.02, "cc": "cubic", "tcp_rtt_ms": 20.0, "delay_ms": 8.0}
    flows = [pd.DataFrame({**one, **parts, "delay_ack_ms": 2.0, "flow": f}) for f in ("f0", "f1")]
    names = [series.name for series in delay_parts(pd.concat(flows)).legend]
    assert len(names) == len(set(names)) > 2
