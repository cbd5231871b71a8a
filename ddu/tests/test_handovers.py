# SPDX-License-Identifier: Apache-2.0
"""The events of UEs' connections, and what handovers did to a flow."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ddu.align.bins import Bins
from ddu.console.problems import RefusedError
from ddu.metrics.mobility import mobility
from ddu.readers.nr_link_events import read_radio_events
from ddu.report import plotly, svg
from ddu.report.figure import Mark
from ddu.report.figures import figures, timeline
from ddu.tables.handovers import handovers_table

MS = 1_000_000


def event(ms: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"utc_ns": ms * MS, "ue": 0, "kind": kind, **fields}


EVENTS = [
    event(0, "cell_selected", cell=0),
    event(3000, "handover_start", cell=0, target=1, handover="a3"),
    event(
        3060, "handover_complete", cell=0, target=1, handover="a3",
        interruption_ns=60 * MS, processing_ns=30 * MS, synchronisation_ns=12 * MS,
        access_ns=18 * MS, ping_pong=False,
    ),
    event(
        3080, "data_forwarded", cell=0, target=1, forwarded_bytes=3000, retransmitted_bytes=1500,
        discarded_bytes=0,
    ),
    event(5000, "radio_link_failure", cell=1, cause="t310"),
    event(
        5300, "reestablished", cell=1, target=0, interruption_ns=300 * MS, **{"class": "too_late"},
    ),
]  # fmt: skip


def read(folder: Path, lines: str) -> pd.DataFrame | None:
    (folder / "radio-events.jsonl").write_text(lines)
    return read_radio_events(folder)


def lines(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one) + "\n" for one in events)


def test_a_cut_last_line_is_left_out_and_a_run_without_events_has_none(tmp_path: Path) -> None:
    assert read_radio_events(tmp_path) is None
    assert read(tmp_path, "") is None
    assert read(tmp_path, '{"utc_ns":5400') is None
    table = read(tmp_path, lines(EVENTS) + '{"utc_ns":5400')
    assert table is not None
    assert list(table["kind"]) == [one["kind"] for one in EVENTS]
    assert table["interruption_ns"].dropna().tolist() == [60 * MS, 300 * MS]


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"radio-events\.jsonl:2: not an event") as refused:
        read(tmp_path, lines(EVENTS[:1]) + '{"ue":0,"kind":"x"}\n')
    assert refused.value.problems[0].fix


def test_throughput_recovers_when_100_ms_have_nine_tenths_of_it(tmp_path: Path) -> None:
    """20 Mbit/s until 3.0 s, nothing until 3.06, 10 until 3.5 and 20 from then on, bins of 20 ms:
    five of them have 18 on average from the one at 3.48 s on (10 + 4 · 20 = 90)."""
    events = read(tmp_path, lines(EVENTS))
    assert events is not None
    bins = Bins(0, 20 * MS, 400)
    t_ms = np.arange(400) * 20
    throughput = np.select([t_ms < 3000, t_ms < 3060, t_ms < 3500], [20e6, 0.0, 10e6], 20e6)
    aligned = pd.DataFrame({
        "tcp_throughput_bps": throughput, "tcp_rtt_ms": np.where(t_ms == 3100, 150.0, 40.0),
        "tcp_spurious_retransmissions_count": np.where(t_ms == 3100, 3.0, 0.0),
    })  # fmt: skip
    flow = SimpleNamespace(flow=SimpleNamespace(id="f0", ue=0))
    table = handovers_table(events, aligned, [flow], bins)  # type: ignore[list-item]
    assert table is not None
    first = table.iloc[0]
    assert (first["utc_ns"], first["interruption_ms"]) == (3000 * MS, 60.0)
    assert first["recovery_ms"] == 3480 - 3060
    assert first["throughput_before_bps"] == 20e6
    assert (first["rtt_before_ms"], first["rtt_during_ms"]) == (40.0, 150.0)
    assert (first["spurious_retransmissions_count"], first["forwarded_bytes"]) == (3, 3000)
    numbers = mobility(events, table)
    assert numbers["handovers_count"] == numbers["radio_link_failures_count"] == 1
    assert (numbers["too_late_count"], numbers["interruption_ms"]) == (1, 180.0)


def test_each_change_has_the_bytes_of_its_own(tmp_path: Path) -> None:
    """The next one says at its own instant what became of one that was still under way."""
    more = {"retransmitted_bytes": 0, "discarded_bytes": 0}
    cut = event(3400, "data_forwarded", cell=0, target=1, forwarded_bytes=3000, **more)
    own = event(3450, "data_forwarded", cell=1, target=0, forwarded_bytes=7, **more)
    back = {**EVENTS[-1], "utc_ns": 3400 * MS}
    events = read(tmp_path, lines([*EVENTS[:3], cut, back, own]))
    aligned = pd.DataFrame({"tcp_throughput_bps": np.full(400, 1e6), "tcp_rtt_ms": 40.0})
    flow = SimpleNamespace(flow=SimpleNamespace(id="f0", ue=0))
    table = handovers_table(events, aligned, [flow], Bins(0, 20 * MS, 400))  # type: ignore[arg-type, list-item]
    assert table is not None
    assert table["forwarded_bytes"].tolist() == [3000, 7]


def test_the_next_changes_interruption_is_not_after_this_one(tmp_path: Path) -> None:
    """Nothing from 3.5 s on, 440 ms after the handover: the UE re-establishes at 3.8 s."""
    again = {**EVENTS[-1], "utc_ns": 3800 * MS}
    events = read(tmp_path, lines([*EVENTS[:3], again]))
    bins = Bins(0, 20 * MS, 400)
    t_ms = np.arange(400) * 20
    throughput = np.where((t_ms >= 3500) & (t_ms < 3800), 0.0, 20e6)
    aligned = pd.DataFrame({"tcp_throughput_bps": throughput, "tcp_rtt_ms": 40.0})
    flow = SimpleNamespace(flow=SimpleNamespace(id="f0", ue=0))
    table = handovers_table(events, aligned, [flow], bins)  # type: ignore[arg-type, list-item]
    assert table is not None
    assert table["throughput_after_bps"].tolist() == [20e6, 20e6]


def test_the_serving_cell_is_drawn_as_steps_and_never_between_two_cells() -> None:
    """A handover in the middle of a bin of 200 ms, of which the figure has the last value."""
    t_s = np.arange(0, 12, 0.02)
    aligned = pd.DataFrame({
        "utc_ns": (t_s * 1e9).round().astype(np.int64), "t_s": t_s, "flow": "f0", "cc": "cubic",
        "duration_ns": 20 * MS, "mac_cell": np.where(t_s < 5.09, 0.0, 1.0),
    })  # fmt: skip
    figure = timeline(aligned, "dl")
    (plot,) = (plot for plot in figure.plots if plot.title == "Serving cell")
    (cell,) = plot.series
    assert set(cell.y) == {0.0, 1.0}
    (trace,) = (one for one in plotly.rendered(figure)["data"] if one["name"] == cell.name)
    assert trace["line"]["shape"] == "hv"
    (path,) = re.findall(r'<path d="(M[^"]+)" fill="none" stroke', svg.rendered(figure))
    points = [point.split() for point in path[1:].split("L")]
    corners = pairwise(points)
    assert all(one[0] == other[0] or one[1] == other[1] for one, other in corners)


def test_bands_and_marks_are_of_the_first_flows_ue_and_within_its_time() -> None:
    t_s = np.arange(200) * 0.02

    def of_flow(flow: str, handover_s: float) -> pd.DataFrame:
        return pd.DataFrame({
            "utc_ns": (t_s * 1e9).astype(np.int64), "t_s": t_s, "flow": flow, "cc": "cubic",
            "tcp_throughput_bps": 1e7, "tcp_rtt_ms": 20.0,
            "mac_cell": np.where(t_s < handover_s, 0.0, 1.0),
        })  # fmt: skip

    aligned = pd.concat([of_flow("f0", 3.0), of_flow("f1", 1.0)], ignore_index=True)
    events = pd.DataFrame({
        "t_s": [0.95, 2.95, 9.0], "ue": [0, 1, 1], "kind": "handover_start",
    })  # fmt: skip
    tables = {"aligned": aligned, "radio_events": events}
    figure = figures(tables, "dl", [Mark(-0.5, "cc=bbr")], {"f0": 1, "f1": 0})["timeline"]
    assert [mark.x for mark in figure.plots[0].marks] == [2.95]
    assert figure.plots[0].bands[0].end == pytest.approx(3.0)
