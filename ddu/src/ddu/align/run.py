# SPDX-License-Identifier: Apache-2.0
"""A run with every source on its clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from ddu.align.anchoring.anchored import Anchored
from ddu.align.anchoring.mac import anchored_mac
from ddu.align.anchoring.sockets import anchored_sockets
from ddu.align.anchoring.traffic import RunTraffic
from ddu.align.clocks.hosts import HostClocks
from ddu.readers.logs import LogTable
from ddu.readers.packets.split import SplitCapture
from ddu.readers.qlog import FirstPayload
from ddu.readers.recording import Recording, in_order_of_time
from ddu.run.manifest import Flow, Manifest

_PORTS = ("sport", "dport")
_ENDPOINTS = ("src", "sport", "dst", "dport")


class RowsByKey:
    """An index of a table, so that each flow costs its own rows and not all of them.

    Raises KeyError when the table does not have these columns.
    """

    def __init__(self, table: pd.DataFrame, columns: Sequence[str]) -> None:
        self.table = table
        self._rows = table.groupby(list(columns), sort=False, observed=True).indices

    def of(self, key: tuple[object, ...]) -> pd.DataFrame:
        """Return the rows whose columns have these values, in the table's order."""
        return self.table.iloc[self._rows.get(key, np.zeros(0, dtype=np.int64))]


@dataclass(frozen=True)
class AlignedRun:
    """The sources of a run on its clock. What a run does not have is None, or empty."""

    path: Path
    manifest: Manifest
    captures: Mapping[str, SplitCapture]
    """The captures by host."""
    mac: pd.DataFrame | None
    link: pd.DataFrame | None
    link_summary: Mapping[str, Any]
    sockets: pd.DataFrame | None
    cc_traces: Mapping[str, pd.DataFrame]
    """The records of congestion controls, by their names."""
    events: pd.DataFrame | None
    """The changes that a phone went through: handovers, technologies."""
    radio_events: pd.DataFrame | None
    """The events of the UEs' connections, as the link wrote them."""
    iperf3: pd.DataFrame | None
    """The intervals that both ends report."""
    tables: Mapping[str, pd.DataFrame]
    """Logs that become a table of their own, by its name."""
    first_payloads: Mapping[str, FirstPayload]
    """The first packet with payload of each QUIC flow, as its ends logged it."""
    alignment: Mapping[str, Mapping[str, Any]]
    """The anchor of each source: how its times became UTC, and how uncertain they are."""
    faults: tuple[str, ...]
    """Problems of the sources, as sentences."""

    @cached_property
    def socket_rows(self) -> RowsByKey | None:
        """The samples by source address and port, then the destination's."""
        return None if self.sockets is None else RowsByKey(self.sockets, _ENDPOINTS)

    def trace_of(self, flow: Flow) -> pd.DataFrame | None:
        """Return the rows of one flow: all of a trace without ports; None of a trace of another
        congestion control."""
        name = next((one for one in (flow.cc, flow.cc_read_back) if one in self.cc_traces), None)
        if name is None:
            return None
        if name not in self._trace_rows:
            return self.cc_traces[name]
        return self._trace_rows[name].of((flow.sender.port, flow.receiver.port))

    @cached_property
    def _trace_rows(self) -> Mapping[str, RowsByKey]:
        return {
            name: RowsByKey(trace, _PORTS)
            for name, trace in self.cc_traces.items()
            if {*_PORTS} <= {*trace}
        }

    @cached_property
    def cc_trace(self) -> pd.DataFrame | None:
        """All that congestion controls recorded, in order of time; ports identify the flow."""
        return in_order_of_time([*self.cc_traces.values()]) if self.cc_traces else None

    @property
    def raw(self) -> Path:
        """The folder of the raw data."""
        return self.path / "raw"

    @property
    def path_rtt_ms(self) -> float | None:
        """The configured delay of the path, both ways: by link.yaml, else by the experiment."""
        try:
            delays = yaml.load((self.raw / "link.yaml").read_bytes(), yaml.CSafeLoader)["path"]
            return float(delays["dl"]["delay_ms"]) + float(delays["ul"]["delay_ms"])
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
            return self.manifest.experiment.rtt_ms


def aligned_run(
    recording: Recording,
    captures: Mapping[str, SplitCapture],
    clocks: HostClocks,
    traffic: RunTraffic,
    flow_faults: Sequence[str],
) -> AlignedRun:
    """Bring every source onto the run's clock, and leave out those of another run."""
    radio = _radio(recording, clocks, traffic)
    sockets = anchored_sockets(recording.sockets, clocks.of, traffic)
    sources: dict[str, pd.DataFrame | None] = {
        "mac": radio.table,
        "link": recording.link,
        "sockets": sockets.table,
        **{_trace_source(name): trace for name, trace in recording.cc_traces.items()},
        **{name: each.table for name, each in recording.tables.items()},
    }
    faults_of_foreign = {
        name: fault
        for name, table in sources.items()
        if table is not None and (fault := traffic.fault_of(name, table))
    }
    kept = {name: table for name, table in sources.items() if name not in faults_of_foreign}
    tables = {name: own for name in recording.tables if (own := kept.get(name)) is not None}
    iperf3 = recording.iperf3
    alignment = {
        **clocks.alignment,
        **({"iperf3": iperf3.alignment} if iperf3 else {}),
        **{name: recording.tables[name].alignment for name in tables},
        **({"mac": radio.alignment} if radio.alignment else {}),
        **({"sockets": sockets.alignment} if sockets.alignment else {}),
    }
    return AlignedRun(
        path=recording.path,
        manifest=recording.manifest,
        captures=captures,
        mac=kept.get("mac"),
        link=kept.get("link"),
        link_summary=recording.link_summary,
        sockets=kept.get("sockets"),
        cc_traces={
            name: trace
            for name, trace in recording.cc_traces.items()
            if _trace_source(name) in kept
        },
        events=radio.events,
        radio_events=recording.radio_events,
        iperf3=iperf3.table if iperf3 else None,
        tables=tables,
        first_payloads=_first_payloads(recording, clocks),
        alignment=alignment,
        faults=(
            *recording.faults, *flow_faults, *radio.faults, *sockets.faults,
            *faults_of_foreign.values(),
        ),
    )  # fmt: skip


def _trace_source(name: str) -> str:
    return f"cc-{name}"


def _first_payloads(recording: Recording, clocks: HostClocks) -> dict[str, FirstPayload]:
    logged = recording.first_payloads
    return {
        flow.id: FirstPayload(
            *(
                int(clocks.of(end.host).corrected(np.array([utc_ns]))[0])
                for end, utc_ns in zip((flow.sender, flow.receiver), logged[flow.id], strict=True)
            )
        )
        for flow in recording.manifest.flows
        if flow.id in logged
    }


def _radio(recording: Recording, clocks: HostClocks, traffic: RunTraffic) -> Anchored:
    mac = recording.mac
    if isinstance(mac, LogTable):
        return anchored_mac(mac, clocks.of, recording.manifest.time, traffic)
    return Anchored(mac)
