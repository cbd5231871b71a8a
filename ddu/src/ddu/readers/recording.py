# SPDX-License-Identifier: Apache-2.0
"""Everything that a run recorded, read once and on one clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ddu.align.clocks.clock import RUN_CLOCK, Clock
from ddu.align.rows import RowsByKey
from ddu.errors import FailedRun, UnreadableInput
from ddu.readers.android.drive_test import read_drive_test
from ddu.readers.android.log import read_phone_log
from ddu.readers.csv import read_samples
from ddu.readers.hercules import read_wireless
from ddu.readers.iperf3_files import read_iperf3_files
from ddu.readers.logs import LogTable
from ddu.readers.oai.mac import read_mac_log
from ddu.readers.oai_logs import read_oai_logs
from ddu.readers.packets.connections import Wanted
from ddu.readers.packets.implementations import Reader
from ddu.readers.packets.split import SplitCapture
from ddu.readers.ran_csv import read_ran_csv
from ddu.readers.sockets import read_sockets
from ddu.readers.ss import read_ss
from ddu.run.manifest import CcTrace, Flow, Manifest, Source

_PORTS = ("sport", "dport")
_ENDS = ("src", "sport", "dst", "dport")
INTERVAL = ("utc_ns", "duration_ns")
MAC_LOGS: dict[str, Callable[[Path], LogTable]] = {
    "oai": read_mac_log,
    "xapp": read_ran_csv,
    "hercules": read_wireless,
    "phone": read_phone_log,
    "drive-test": read_drive_test,
}
"""Readers of foreign MAC logs, by run.json's `mac.source`."""
_IP_TCP_HEADERS = {4: 40, 6: 60}


@dataclass
class Recording:
    """The raw data of a run. What a run does not have is None."""

    path: Path
    manifest: Manifest
    captures: dict[str, SplitCapture] = field(default_factory=dict)
    """By host."""
    mac: pd.DataFrame | None = None
    link: pd.DataFrame | None = None
    link_summary: dict[str, Any] = field(default_factory=dict)
    sockets: pd.DataFrame | None = None
    cc_trace: pd.DataFrame | None = None
    mac_log: LogTable | None = None
    oai: dict[str, pd.DataFrame] = field(default_factory=dict)
    """OpenAirInterface's other logs, by the name of the table that each becomes."""
    events: pd.DataFrame | None = None
    """What a phone went through: handovers, technologies."""
    iperf3: pd.DataFrame | None = None
    """What both ends said of each interval."""
    socket_logs: list[tuple[LogTable, str, float]] = field(default_factory=list)
    """Logs whose clock follows from the traffic (ddu.align.anchoring), host, interval (ms)."""
    clocks: dict[str, Clock] = field(default_factory=dict)
    """By host, of those that differ from the run's."""
    alignment: dict[str, Any] = field(default_factory=dict)
    """By source: how its times became UTC, and how uncertain they are."""
    faults: list[str] = field(default_factory=list)
    """What is wrong with the files, as sentences; the analysis went on without what is missing."""

    @cached_property
    def socket_rows(self) -> RowsByKey | None:
        """By source address and port, then the destination's; once the sources are anchored."""
        return None if self.sockets is None else RowsByKey(self.sockets, _ENDS)

    @cached_property
    def cc_rows(self) -> RowsByKey | None:
        """By ports; None where the trace does not tell them."""
        trace = self.cc_trace
        return RowsByKey(trace, _PORTS) if trace is not None and {*_PORTS} <= {*trace} else None

    @property
    def raw(self) -> Path:
        return self.path / "raw"

    def clock(self, host: str) -> Clock:
        """The host's clock against that of the server, which is the run's."""
        return self.clocks.get(host, RUN_CLOCK)


def load(path: Path, manifest: Manifest, reader: Reader) -> Recording:
    """Reads the files that the manifest names, on the run's clock.

    A file that is cut off, or a source of secondary columns that is missing, is told in `faults`;
    a capture that is named and is missing or empty ends the analysis. Raises UnreadableInput and
    FailedRun.
    """
    from ddu.align.clocks.of_run import align_clocks

    run = Recording(path, manifest, clocks={"ue": Clock(manifest.time.offset_ns or 0)})
    _refuse_unfinished(run)
    for capture in manifest.captures:
        file = _raw(path, capture.file)
        split = SplitCapture(file, reader, _wanted(manifest), _mtu(run))
        run.captures[capture.host] = split.on(run.clock(capture.host).corrected)
        _note_cut(run, file, split.truncated_at)
    align_clocks(run)
    run.mac = _mac(run)
    run.iperf3 = read_iperf3_files(run.raw, run.alignment)
    run.link = _samples(run, manifest.link, INTERVAL)
    run.cc_trace = _samples(run, manifest.cc_trace, ("utc_ns",))
    run.sockets = _sockets(run)
    run.oai = read_oai_logs(run.raw / "oai", run.faults, run.alignment)
    run.link_summary = _link_summary(run)
    return run


def path_rtt_ms(run: Recording) -> float | None:
    """The configured delay of the path, both ways: from link.yaml, else from the experiment."""
    try:
        delays = yaml.safe_load((run.raw / "link.yaml").read_text())["path"]
        return float(delays["dl"]["delay_ms"]) + float(delays["ul"]["delay_ms"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
        return run.manifest.experiment.rtt_ms


def _refuse_unfinished(run: Recording) -> None:
    manifest = run.manifest
    if manifest.status == "failed":
        failure = manifest.failure
        why = f"{failure.stage}: {failure.reason}" if failure else "it does not say why"
        raise FailedRun(f"{run.path}: this run failed ({why}); there is nothing to analyse")
    if not manifest.flows or not manifest.captures:
        raise FailedRun(
            f"{run.path}: this run is {manifest.status} and its run.json names no "
            f"{'flows' if not manifest.flows else 'captures'}; there is nothing to analyse"
        )
    if manifest.status != "finished":
        run.faults.append(f"The run is {manifest.status}: what it recorded may be incomplete.")


def _wanted(manifest: Manifest) -> list[Wanted]:
    """The connections that carry data, and those that control it."""
    found = [Wanted(*ends) for flow in manifest.flows if (ends := endpoints(flow))]
    for flow in manifest.flows:
        port = flow.control_port or flow.receiver.port
        if port is not None:
            found.append(Wanted(flow.sender.address, None, flow.receiver.address, port))
    return list(dict.fromkeys(found))


def _mtu(run: Recording) -> int:
    """Longest packet that crosses the link in one piece, by MTU and configured MSS."""
    mtus = [host.get("mtu_bytes") for host in run.manifest.hosts.values() if isinstance(host, dict)]
    mtu = min((int(mtu) for mtu in mtus if mtu), default=1500)
    mss = run.manifest.experiment.mss_bytes
    version = 6 if ":" in run.manifest.flows[0].sender.address else 4
    return min(mtu, mss + _IP_TCP_HEADERS[version]) if mss else mtu


def _raw(path: Path, name: str) -> Path:
    """Manifests name files relative to the run, with or without `raw/`."""
    inside = path / name
    return inside if inside.exists() or name.startswith("raw/") else path / "raw" / name


def _note_cut(run: Recording, file: Path, offset: int | None) -> None:
    if offset is not None:
        run.faults.append(f"{file.name} is cut off at byte {offset}; what follows is unknown.")


def _samples(
    run: Recording, source: Source | CcTrace | None, required: tuple[str, ...]
) -> pd.DataFrame | None:
    if source is None:
        return None
    file = _raw(run.path, source.file)
    try:
        table = read_samples(file, required)
    except UnreadableInput as error:
        run.faults.append(f"{error}; its columns are null.")
        return None
    _note_cut(run, file, table.attrs["truncated_at"])
    return table if len(table) else None


def _mac(run: Recording) -> pd.DataFrame | None:
    """The MAC's samples; those of a foreign log are made once its clock is known."""
    source = run.manifest.mac
    if source is None or source.source == "nr-link":
        return _samples(run, source, (*INTERVAL, "ue"))
    run.mac_log = _log(run, source.file, MAC_LOGS.get(source.source))
    return None


def _log(run: Recording, name: str, read: Callable[[Path], LogTable] | None) -> LogTable | None:
    file = _raw(run.path, name)
    try:
        if read is None:
            raise UnreadableInput(file, "run.json says of it a format that this ddu does not know")
        log = read(file)
    except UnreadableInput as error:
        run.faults.append(f"{error}; its columns are null.")
        return None
    _note_cut(run, file, log.truncated_at)
    return log


def _sockets(run: Recording) -> pd.DataFrame | None:
    tables = []
    for source in run.manifest.sockets:
        if source.source == "ss":
            if log := _log(run, source.file, read_ss):
                run.socket_logs.append((log, source.host, source.interval_ms))
            continue
        file = _raw(run.path, source.file)
        try:
            samples = read_sockets(file)
        except UnreadableInput as error:
            run.faults.append(f"{error}; its columns are null.")
            continue
        _note_cut(run, file, samples.truncated_at)
        table = samples.table.to_pandas()
        table["utc_ns"] = run.clock(source.host).corrected(table["utc_ns"].to_numpy())
        tables.append(table.assign(host=source.host, interval_ms=source.interval_ms))
    joined = pd.concat(tables, ignore_index=True) if tables else None
    return joined.sort_values("utc_ns", kind="stable") if joined is not None else None


def _link_summary(run: Recording) -> dict[str, Any]:
    name = run.manifest.link_summary
    if not name:
        return {}
    try:
        content = json.loads(_raw(run.path, name).read_bytes())
    except (OSError, ValueError) as error:
        run.faults.append(f"{name} cannot be read ({error}).")
        return {}
    return content if isinstance(content, dict) else {}


def endpoints(flow: Flow) -> tuple[str, int, str, int] | None:
    """The 5-tuple of a flow's data, but for the protocol; None if a port is not known."""
    if flow.sender.port is None or flow.receiver.port is None:
        return None
    return flow.sender.address, flow.sender.port, flow.receiver.address, flow.receiver.port
