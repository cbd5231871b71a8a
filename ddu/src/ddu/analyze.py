# SPDX-License-Identifier: Apache-2.0
"""The analysis of a run: read → clocks → flows → aligned sources → tables → summary.

Each stage returns a value of its own, and none changes what an earlier stage returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.anchoring.correlation import Traffic
from ddu.align.anchoring.traffic import RunTraffic
from ddu.align.bins import Bins
from ddu.align.clocks.flow_bounds import clock_bounds
from ddu.align.clocks.hosts import HostClocks, estimated_clocks, stated_clocks, unrelated_hosts
from ddu.align.run import AlignedRun, aligned_run
from ddu.errors import UnreadableInput
from ddu.flows.explained import explained_packets
from ddu.flows.observe import ObservedFlow, observe
from ddu.metrics.distribution import delay_cdf
from ddu.readers.packets.implementations import Reader
from ddu.readers.recording import Recording, read_recording
from ddu.run.integrity import damages_of_run, digest_of_raw
from ddu.run.manifest import manifest_of, read_content
from ddu.summary import summarise
from ddu.tables.aligned import aligned_table
from ddu.tables.flows import flows_table
from ddu.tables.handovers import handovers_table
from ddu.tables.mac import mac_table
from ddu.tables.transport import grid, transport_table

BIN_NS = 20_000_000
"""20 ms, at which the sockets are sampled (Hercules, section 3)."""


@dataclass(frozen=True)
class Analysis:
    """A pure function of a run's directory, the bin's width and the packet reader."""

    tables: dict[str, pd.DataFrame]
    summary: dict[str, Any]
    raw_sha256: str | None
    """The digest of the list of raw data; None for a run that is older than digests."""


def analysis_of(path: Path, bin_ns: int = BIN_NS, reader: Reader = "native") -> Analysis:
    """Return the tables and the summary of the run at `path`; nothing is written."""
    content = read_content(path)
    manifest = manifest_of(path, content)
    if manifest.kept is not None:
        raise UnreadableInput(
            path / "run.json",
            f"its raw data were dropped (keep: {manifest.kept.level}), so that it cannot be "
            "analysed again",
            f"read what was kept, or repeat it with `ccu rerun {path}`",
        )
    _refuse_changed_raw_data(path, content)
    recording = read_recording(path, manifest, reader)
    clocks = clocks_of(recording)
    captures = clocks.corrected(recording.captures)
    flows, faults = observe(recording.manifest.flows, captures)
    if not flows:
        files = " and ".join(capture.file.name for capture in captures.values())
        raise UnreadableInput(
            recording.raw,
            f"none of the run's flows has a payload packet in {files}",
            "was it captured?",
        )
    run = aligned_run(recording, captures, clocks, run_traffic(flows), faults)
    bins = grid(flows, bin_ns)
    transport = transport_table(flows, bins)
    mac = None if run.mac is None else mac_table(run.mac, bins.start_utc_ns)
    delays = None if recording.delays is None else explained_packets(recording.delays, flows)
    aligned, given = aligned_table(run, flows, transport, mac, bins, delays)
    run = replace(run, alignment=_with_columns(run.alignment, given))
    handovers = handovers_table(run.radio_events, aligned, flows, bins)
    tables = {
        "flows": flows_table(run, flows),
        "transport": transport,
        "aligned": aligned,
        "delay_cdf": delay_cdf(flows),
    }
    return Analysis(
        {name: _stamped(table, "clocks", run) for name, table in tables.items()}
        | _source_tables(run, mac, handovers, bins, delays),
        summarise(run, flows, aligned, mac, handovers, bins),
        digest_of_raw(content),
    )


def _refuse_changed_raw_data(path: Path, content: Mapping[str, Any]) -> None:
    """Raise UnreadableInput if raw data are not as run.json, whose `content` this is, describes
    them."""
    for damage in damages_of_run(path, content):
        raise UnreadableInput(
            path / damage.file,
            f"{damage.rule}: it is not as the run recorded it",
            f"restore it from a copy, or repeat the run with `ccu rerun {path}`",
        )


def clocks_of(recording: Recording) -> HostClocks:
    """Return the hosts' clocks, estimated from the packets where run.json does not state them."""
    stated = stated_clocks(recording.manifest)
    hosts = unrelated_hosts(recording.manifest, recording.captures)
    if hosts is None:
        return stated
    captures = stated.corrected(recording.captures)
    flows, _ = observe(recording.manifest.flows, captures)
    return estimated_clocks(recording.raw, hosts, *clock_bounds(flows, hosts[0]))


def run_traffic(flows: Sequence[ObservedFlow]) -> RunTraffic:
    """Return when the flows sent, and what arrived in the direction of the first of them."""
    direction = flows[0].flow.direction

    def arrived() -> Traffic:
        own = [flow.arrivals for flow in flows if flow.flow.direction == direction]
        at = np.concatenate([utc_ns for utc_ns, _ in own])
        size = np.concatenate([size_bytes.astype(np.int64) for _, size_bytes in own])
        order = np.argsort(at, kind="stable")
        return Traffic(at[order], size[order])

    first = min(flow.first_utc_ns for flow in flows)
    return RunTraffic(first, max(flow.last_utc_ns for flow in flows), direction, arrived)


def _with_columns(
    alignment: Mapping[str, Mapping[str, Any]], given: Mapping[str, list[str]]
) -> dict[str, Mapping[str, Any]]:
    """State of each log which columns of the aligned table it gives."""
    return {
        name: {**each, "gives": given[name]} if name in given else each
        for name, each in alignment.items()
    }


def _source_tables(
    run: AlignedRun,
    mac: pd.DataFrame | None,
    handovers: pd.DataFrame | None,
    bins: Bins,
    delays: pd.DataFrame | None,
) -> dict[str, pd.DataFrame]:
    sources = {"mac": mac, "sockets": run.sockets, "cc": run.cc_trace, "events": run.events}
    sources |= {"iperf3": run.iperf3, "delays": delays, **run.tables}
    sources |= {"radio_events": run.radio_events, "handovers": handovers}
    tables = {}
    for name, table in sources.items():
        if table is None:
            continue
        if "t_s" not in table:
            table = table.copy(deep=False)
            table.insert(1, "t_s", (table["utc_ns"] - bins.start_utc_ns) / 1e9)
        tables[name] = _stamped(table, name, run)
    return tables


def _stamped(table: pd.DataFrame, source: str, run: AlignedRun) -> pd.DataFrame:
    """Return the table with how its times became UTC in its metadata."""
    stamped = table.copy(deep=False)
    if source in run.alignment:
        stamped.attrs["alignment"] = run.alignment[source]
    return stamped
