# SPDX-License-Identifier: Apache-2.0
"""From a run directory's raw data to its tables, summary, figures and report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.align.anchoring.sources import anchor_sources
from ddu.metrics.distribution import delay_cdf
from ddu.metrics.observe import observe
from ddu.readers.packets.implementations import Reader
from ddu.readers.recording import Recording, load
from ddu.run.manifest import read_manifest
from ddu.summary import summarise
from ddu.tables.aligned import aligned_table
from ddu.tables.flows import flows_table
from ddu.tables.mac import mac_table
from ddu.tables.store import results_of, write_table
from ddu.tables.transport import grid, transport_table

BIN_NS = 20_000_000
"""20 ms, at which the sockets are sampled (Hercules, section 3)."""


@dataclass(frozen=True)
class Analysis:
    """What is known of a run; a pure function of its directory, the bin's width and the reader."""

    tables: dict[str, pd.DataFrame]
    summary: dict[str, Any]


def analyze(
    path: Path, bin_ns: int = BIN_NS, reader: Reader = "native", report: bool = True
) -> dict[str, Any]:
    """Analyses the run at `path`, writes its results there, and gives its summary.

    Without `report` figures and report.html are left out, which take most of the time.

    Raises DduError; results are then as they were before.
    """
    analysis = analysis_of(path, bin_ns, reader)
    with results_of(path) as results:
        (results / "tables").mkdir()
        for name, table in analysis.tables.items():
            write_table(results / "tables", name, table)
        if report:
            from ddu.report.page import write_report

            write_report(results, analysis.tables, analysis.summary)
        (results / "summary.json").write_text(json.dumps(analysis.summary, indent=2) + "\n")
    return analysis.summary


def analysis_of(path: Path, bin_ns: int = BIN_NS, reader: Reader = "native") -> Analysis:
    """The tables and the summary of the run at `path`; nothing is written."""
    run = load(path, read_manifest(path), reader)
    flows = observe(run)
    anchor_sources(run, flows)
    bins = grid(flows, bin_ns)
    transport = transport_table(flows, bins)
    mac = None if run.mac is None else mac_table(run.mac, bins.start_utc_ns)
    aligned = aligned_table(run, flows, transport, mac, bins)
    tables = {"flows": flows_table(run, flows), "transport": transport, "aligned": aligned}
    tables["delay_cdf"] = delay_cdf(flows)
    if "clocks" in run.alignment:
        for table in tables.values():
            table.attrs["alignment"] = run.alignment["clocks"]
    tables |= _sources(run, mac, bins.start_utc_ns)
    return Analysis(tables, summarise(run, flows, aligned, mac, bins))


def _sources(
    run: Recording, mac: pd.DataFrame | None, start_utc_ns: int
) -> dict[str, pd.DataFrame]:
    """The sources as tables of their own, on the run's clock."""
    found = {"mac": mac, "sockets": run.sockets, "cc": run.cc_trace, "events": run.events}
    found["iperf3"] = run.iperf3
    found |= run.oai
    kept = {name: table for name, table in found.items() if table is not None}
    for name, table in kept.items():
        if name in run.alignment:
            table.attrs["alignment"] = run.alignment[name]
        if "t_s" not in table:
            table.insert(1, "t_s", (table["utc_ns"] - start_utc_ns) / 1e9)
    return kept
