# SPDX-License-Identifier: Apache-2.0
"""Everything that a run recorded, read once, each source on the clock that stamped it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ddu.console.input_file import need_regular, read_json
from ddu.console.problems import RefusedError
from ddu.errors import FailedRun, UnreadableInput
from ddu.readers.csv import read_samples
from ddu.readers.delays import FILE as DELAYS
from ddu.readers.delays import LinkDelays, read_delays
from ddu.readers.format import SourceTable
from ddu.readers.formats import read_source
from ddu.readers.iperf3 import read_iperf3_files
from ddu.readers.logs import LogTable
from ddu.readers.nr_link_events import read_radio_events
from ddu.readers.nr_link_flows import read_nr_link_flows
from ddu.readers.packets.connections import Wanted
from ddu.readers.packets.implementations import Reader
from ddu.readers.packets.split import SplitCapture
from ddu.readers.qlog import FirstPayload, read_quic_logs
from ddu.readers.sockets import read_sockets
from ddu.readers.table_logs import read_table_logs
from ddu.run.manifest import CcTrace, Manifest, SocketSamples, Source
from ddu.schema.arrays import Columns

INTERVAL = ("utc_ns", "duration_ns")
_IP_TCP_HEADERS = {4: 40, 6: 60}
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Sockets:
    """Samples of one host's sockets: rows with `utc_ns` on that host's clock, or a log whose clock
    is yet to be found."""

    declared: SocketSamples
    samples: pd.DataFrame | None = None
    log: LogTable | None = None


@dataclass(frozen=True)
class Recording:
    """The raw data of a run. What a run does not have is None, or empty."""

    path: Path
    manifest: Manifest
    captures: Mapping[str, SplitCapture]
    """The captures by host."""
    mac: pd.DataFrame | LogTable | None
    """Samples of nr-link, or the log of another source."""
    link: pd.DataFrame | None
    link_summary: Mapping[str, Any]
    cc_traces: Mapping[str, pd.DataFrame]
    """The traces by congestion control."""
    sockets: tuple[Sockets, ...]
    delays: Columns | None
    """The link's account of each packet's delay."""
    iperf3: SourceTable | None
    radio_events: pd.DataFrame | None
    """The events of the UEs' connections: handovers, radio link failures."""
    tables: Mapping[str, SourceTable]
    """Logs that become a table of their own, by its name."""
    first_payloads: Mapping[str, FirstPayload]
    """The first packet with payload of each QUIC flow, by the clocks of its ends."""
    faults: tuple[str, ...]
    """Problems of the files, as sentences; the analysis goes on without what is missing."""

    @property
    def raw(self) -> Path:
        """The folder of the raw data."""
        return self.path / "raw"


def read_recording(path: Path, manifest: Manifest, reader: Reader) -> Recording:
    """Read the files that the manifest names.

    A file that is cut off, or a source of secondary columns that is missing, is a fault of the
    recording; a capture that is named and is missing or empty ends the analysis. Raises
    UnreadableInput and FailedRun.
    """
    refuse_unfinished(path, manifest)
    files = _Files(path)
    if manifest.status != "finished":
        files.faults.append(f"The run is {manifest.status}: what it recorded may be incomplete.")
    captures = {
        capture.host: files.capture(capture.file, reader, manifest) for capture in manifest.captures
    }
    mac = files.mac(manifest.mac)
    link = files.samples(manifest.link, INTERVAL, numeric=True)
    cc_traces = files.cc_traces(manifest.cc_traces)
    sockets = tuple(filter(None, map(files.sockets, manifest.sockets)))
    tables, faults = read_table_logs(path / "raw")
    quic = read_quic_logs(path / "raw", tuple(manifest.flows))
    files.faults += [*faults, *quic.faults]
    return Recording(
        path=path,
        manifest=manifest,
        captures=captures,
        mac=mac,
        link=link,
        link_summary=files.link_summary(manifest.link_summary),
        cc_traces=cc_traces,
        sockets=sockets,
        delays=files.delays(),
        iperf3=read_nr_link_flows(path / "raw") or read_iperf3_files(path / "raw"),
        radio_events=read_radio_events(path / "raw"),
        tables={**tables, **quic.tables},
        first_payloads=quic.first_payloads,
        faults=tuple(files.faults),
    )


def in_order_of_time(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of one or several tables."""
    if len(tables) == 1:
        return tables[0]
    return pd.concat(tables).sort_values("utc_ns", kind="stable", ignore_index=True)


def refuse_unfinished(path: Path, manifest: Manifest) -> None:
    """Raise FailedRun for a run that recorded nothing to analyse."""
    if manifest.status == "failed":
        failure = manifest.failure
        why = f"{failure.stage}: {failure.reason}" if failure else "it does not say why"
        raise FailedRun(path, f"this run failed ({why}); there is nothing to analyse")
    if not manifest.flows:
        raise FailedRun(
            path,
            f"this run is {manifest.status} and its run.json names no flows; there is nothing to "
            "analyse",
        )
    if not manifest.captures:
        raise FailedRun(
            path,
            "this run has no capture, and tables are computed from captures",
            "read what it recorded in raw/ (iperf3-*.json, mac.csv), or repeat it without "
            "--no-capture",
        )


class _Files:
    """The reader of a run's files, which notes in `faults` what is wrong with them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.faults: list[str] = []

    def capture(self, name: str, reader: Reader, manifest: Manifest) -> SplitCapture:
        file = self._file(name)
        split = SplitCapture(file, reader, _wanted(manifest), _mtu_bytes(manifest))
        self._note_cut(file, split.truncated_at)
        return split

    def mac(self, source: Source | None) -> pd.DataFrame | LogTable | None:
        if source is None or source.source == "nr-link":
            return self.samples(source, (*INTERVAL, "ue"), numeric=True)
        return self._log(source.file, "mac", source.source)

    def samples(
        self, source: Source | CcTrace | None, required: tuple[str, ...], *, numeric: bool = False
    ) -> pd.DataFrame | None:
        if source is None:
            return None
        file = self._file(source.file)
        table = self._without_columns(lambda: read_samples(file, required, numeric=numeric))
        if table is None:
            return None
        self._note_cut(file, table.attrs["truncated_at"])
        return table if len(table) else None

    def cc_traces(self, declared: Sequence[CcTrace]) -> dict[str, pd.DataFrame]:
        """Return what each congestion control recorded; of files for a flow each, all rows in
        order of time."""
        of_files: dict[str, list[pd.DataFrame]] = {}
        for one in declared:
            if (table := self.samples(one, ("utc_ns",))) is not None:
                of_files.setdefault(one.cc, []).append(table)
        return {cc: in_order_of_time(some) for cc, some in of_files.items()}

    def sockets(self, declared: SocketSamples) -> Sockets | None:
        if declared.source != "netlink":
            log = self._log(declared.file, "sockets", declared.source)
            return None if log is None else Sockets(declared, log=log)
        file = self._file(declared.file)
        read = self._without_columns(lambda: read_sockets(file))
        if read is None:
            return None
        self._note_cut(file, read.truncated_at)
        return Sockets(declared, samples=read.table.to_pandas())

    def link_summary(self, name: str | None) -> dict[str, Any]:
        if not name:
            return {}
        try:
            content = read_json(self._file(name))
        except (OSError, RefusedError, ValueError) as error:
            self.faults.append(f"{name} cannot be read ({error}).")
            return {}
        return content if isinstance(content, dict) else {}

    def delays(self) -> Columns | None:
        read: LinkDelays | None = self._without_columns(lambda: read_delays(self._path / "raw"))
        if read is None:
            return None
        self._note_cut(self._path / "raw" / DELAYS, read.truncated_at)
        return read.columns

    def _log(self, name: str, holds: str, source: str) -> LogTable | None:
        file = self._file(name)
        log = self._without_columns(lambda: read_source(file, holds, source))
        if log is not None:
            self._note_cut(file, log.truncated_at)
        return log

    def _without_columns(self, read: Callable[[], _Read]) -> _Read | None:
        try:
            return read()
        except RefusedError as error:
            self.faults.append(f"Left out, its columns are null: {error}")
            return None

    def _file(self, name: str) -> Path:
        """Manifests name files relative to the run, with or without `raw/`."""
        inside = self._path / name
        given = inside.exists() or name.startswith("raw/")
        file = inside if given else self._path / "raw" / name
        if file.exists():
            try:
                need_regular(file)
            except OSError as error:
                raise UnreadableInput(file, error.strerror or str(error)) from None
            if not file.resolve().is_relative_to(self._path.resolve()):
                rule = f"{name} leads out of the run"
                raise UnreadableInput(self._path / "run.json", rule, "copy the file into raw/")
        return file

    def _note_cut(self, file: Path, offset: int | None) -> None:
        if offset is not None:
            self.faults.append(f"{file.name} is cut off at byte {offset}; what follows is unknown.")


def _wanted(manifest: Manifest) -> list[Wanted]:
    """The connections that carry data, and those that control it."""
    wanted = [Wanted(*ends) for flow in manifest.flows if (ends := flow.endpoints)]
    for flow in manifest.flows:
        port = flow.control_port or flow.receiver.port
        if port is not None:
            wanted.append(Wanted(flow.sender.address, None, flow.receiver.address, port))
    return list(dict.fromkeys(wanted))


def _mtu_bytes(manifest: Manifest) -> int:
    """The longest packet that crosses the link in one piece, by MTU and configured MSS."""
    mtus = [host.get("mtu_bytes") for host in manifest.hosts.values() if isinstance(host, dict)]
    mtu = min((int(mtu) for mtu in mtus if mtu), default=1500)
    mss = manifest.experiment.mss_bytes
    version = 6 if ":" in manifest.flows[0].sender.address else 4
    return min(mtu, mss + _IP_TCP_HEADERS[version]) if mss else mtu
