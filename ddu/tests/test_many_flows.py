# SPDX-License-Identifier: Apache-2.0
"""Many flows: each has its own rows, and the report stays one that can be read."""

from __future__ import annotations

from pathlib import Path

from ddu.analyze import analysis_of
from ddu.api import analyze
from ddu.report.largest import MOST_FLOWS
from testsupport.gigabit import write_run


def test_the_report_shows_the_largest(tmp_path: Path) -> None:
    count = 3 * MOST_FLOWS
    write_run(tmp_path / "run", 0.2, 0.1, count, 0.0)
    summary = analyze(tmp_path / "run", bin_ns=100_000_000)
    page = (tmp_path / "run" / "report.html").read_text()
    assert len(summary["flows"]) == count
    assert f"The {MOST_FLOWS} with most bytes, of {count}" in page
    assert page.split("<h2>Flows</h2>")[1].split("</table>")[0].count("cubic dl") == MOST_FLOWS


def test_every_flow_has_its_own_bytes(tmp_path: Path) -> None:
    write_run(tmp_path / "run", 0.2, 0.1, 7, 0.0)
    analysis = analysis_of(tmp_path / "run", bin_ns=100_000_000)
    width_s = 0.1
    by_flow = analysis.tables["aligned"].groupby("flow")["tcp_throughput_bps"].sum() * width_s / 8
    for flow in analysis.summary["flows"]:
        assert round(by_flow[flow["id"]]) == flow["received_payload_bytes"] > 0
