# SPDX-License-Identifier: Apache-2.0
"""qlog of QUIC connections: JSON-SEQ (RFC 7464) of the main schema 0.3, with the QUIC events.

Sources: draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01, which quinn
and aioquic write. Times of events are relative to `reference_time`, or since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.format import Format, LogClock, SourceTable
from ddu.readers.logs import LogTable, content_of, table_of
from ddu.run.manifest import Flow

VERSIONS = ("0.3",)
"""The versions of the main schema that are read."""
TABLE = "quic"
CLOCK = LogClock("times that stand in the qlog, by the clock of the sender", 1_000)

_RECORD = b"\x1e"
_GAUGES = {
    "congestion_window": "quic_cwnd_bytes",
    "cwnd": "quic_cwnd_bytes",  # aioquic's name
    "ssthresh": "quic_ssthresh_bytes",
    "bytes_in_flight": "quic_in_flight_bytes",
    "smoothed_rtt": "quic_srtt_ms",
    "latest_rtt": "quic_rtt_ms",
    "min_rtt": "quic_min_rtt_ms",
    "pacing_rate": "quic_pacing_rate_bps",
}
"""Fields of recovery:metrics_updated, which have the units of their columns."""
_FIRST = ("utc_ns", "flow")
_NOT_AS_WRITTEN = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""The errors of a record that no program writes so."""
_Packet = tuple[int, str, int]
"""The connection, from 0, the packet number space, and the packet number."""
_PAYLOAD = "1RTT"
"""The packet number space of payload."""


class FirstPayload(NamedTuple):
    """The first packet with payload of a flow's connection, as each end logged it by its clock."""

    sent_utc_ns: int
    arrived_utc_ns: int


class QuicLogs(NamedTuple):
    """The content of the logs of a run's flows."""

    tables: dict[str, SourceTable]
    """The table `quic`, with the rows of all senders, if there is any."""
    first_payloads: dict[str, FirstPayload]
    """The first payload of each flow whose ends have both logged it."""
    faults: list[str]


@dataclass
class _Log:
    """The content of one end's log."""

    rows: list[dict[str, object]] = field(default_factory=list)
    """A row for each update of the recovery's metrics, and each loss."""
    received: set[_Packet] = field(default_factory=set)
    lost: list[tuple[int, _Packet]] = field(default_factory=list)
    """Row and packet of each loss."""
    first_ns: dict[str, dict[int, int]] = field(default_factory=dict)
    """The first packet that may have payload, by `packet_sent` and `packet_received`, then by
    connection."""
    truncated_at: int | None = None
    _connections: dict[object, int] = field(default_factory=dict)
    """The number of the connection of each `group_id`."""

    def packet(self, data: dict[str, Any], group: object) -> _Packet:
        """Return the packet of an event. Raises KeyError, TypeError or ValueError."""
        header = data["header"]
        kind = str(header["packet_type"])
        space = _PAYLOAD if kind in ("0RTT", "1RTT") else kind
        return self._connection(group, kind), space, int(header["packet_number"])

    def _connection(self, group: object, kind: str) -> int:
        """Return the connection of a group of events. A client has several for one connection:
        its ID changes when the server has answered. A connection begins with an Initial packet."""
        if group not in self._connections:
            newest = max(self._connections.values(), default=-1)
            begins = kind == "initial" or newest < 0
            self._connections[group] = newest + begins
        return self._connections[group]


def read_qlog(file: Path) -> LogTable:
    """Read the rows of one end's log. Raises UnreadableInput."""
    log = _read(file)
    if not log.rows:
        raise UnreadableInput(file, "no recovery:metrics_updated in it")
    return LogTable(file, "qlog", table_of(log.rows, _FIRST[:1]), "0.3", log.truncated_at)


def read_quic_logs(raw: Path, flows: tuple[Flow, ...]) -> QuicLogs:
    """Read the logs of both ends of all flows that have some."""
    tables, files = [], []
    first_payloads: dict[str, FirstPayload] = {}
    faults: list[str] = []
    for flow in flows:
        sender, receiver = (
            raw / "quic" / f"{flow.id}-{end}.sqlog" for end in ("sender", "receiver")
        )
        if not sender.is_file():
            continue
        try:
            log = _read(sender)
            other = _read(receiver) if receiver.is_file() else None
        except UnreadableInput as error:
            faults.append(f"Left out, its columns are null: {error}")
            continue
        for file, one in ((sender, log), (receiver, other)):
            if one is not None and one.truncated_at is not None:
                faults.append(f"{file.name} is cut off at byte {one.truncated_at}.")
        if first := _first_payload(log, other):
            first_payloads[flow.id] = first
        if not log.rows:
            faults.append(f"Left out, its columns are null: {sender.name} has no metrics.")
            continue
        files.append(sender.name)
        tables.append(_table(flow.id, log, other))
    if not tables:
        return QuicLogs({}, first_payloads, faults)
    alignment = {**CLOCK.as_dict(), "file": ", ".join(files), "format": "qlog"}
    table = SourceTable(pd.concat(tables, ignore_index=True), alignment)
    return QuicLogs({TABLE: table}, first_payloads, faults)


def _table(flow: str, log: _Log, receiver: _Log | None) -> pd.DataFrame:
    """Return a sender's rows. A packet that it declared lost and that arrived is a spurious
    loss."""
    spurious = [row for row, packet in log.lost if receiver and packet in receiver.received]
    counts = [0] * len(log.rows)
    for row in spurious:
        counts[row] += 1
    table = table_of(log.rows, _FIRST[:1])
    table.insert(1, "flow", flow)
    gauges = [name for name in dict.fromkeys(_GAUGES.values()) if name in table]
    table[gauges] = table[gauges].ffill()
    table["quic_spurious_loss_count"] = counts if receiver else None
    return table


def _first_payload(sender: _Log, receiver: _Log | None) -> FirstPayload | None:
    """Return the first packet with payload of the newest connection: one before it was made for the
    ticket of 0-RTT. None if one end has none."""
    sent = sender.first_ns.get("packet_sent")
    arrived = receiver.first_ns.get("packet_received") if receiver else None
    return FirstPayload(sent[max(sent)], arrived[max(arrived)]) if sent and arrived else None


def _read(file: Path) -> _Log:
    content = content_of(file)
    log = _Log()
    records = _records(file, content, log)
    start_ns = _start_ns(file, next(records, None))
    for number, event in records:
        try:
            utc_ns = start_ns + round(float(event["time"]) * 1e6)
            _take(log, str(event["name"]), event.get("data", {}), utc_ns, event.get("group_id"))
        except _NOT_AS_WRITTEN as error:
            raise UnreadableInput(file, f"not an event of qlog ({error})", line=number) from None
    return log


def _records(file: Path, content: bytes, log: _Log) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records with the numbers of their lines; one that the end cuts off is not read."""
    place = 0
    for number, line in enumerate(content.splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            log.truncated_at = place
            return
        place += len(line)
        try:
            record = json.loads(line.lstrip(_RECORD))
        except ValueError as error:
            raise UnreadableInput(
                file, f"not a record of JSON-SEQ ({error})", "copy the file again", line=number
            ) from None
        if not isinstance(record, dict):
            raise UnreadableInput(file, "not a record of qlog", line=number)
        yield number, record


def _start_ns(file: Path, header: tuple[int, dict[str, Any]] | None) -> int:
    """Return what times count from, ns since 1970. Raises UnreadableInput for another version."""
    if header is None or "qlog_version" not in header[1]:
        raise UnreadableInput(file, "does not begin with the header of a qlog", line=1)
    version, form = header[1]["qlog_version"], header[1].get("qlog_format")
    if version not in VERSIONS or form != "JSON-SEQ":
        known = " or ".join(VERSIONS)
        raise UnreadableInput(
            file, f"is qlog {version} as {form}", f"write qlog {known} as JSON-SEQ", line=1
        )
    try:
        common = (header[1].get("trace") or {}).get("common_fields") or {}
        return round(float(common.get("reference_time") or 0) * 1e6)
    except _NOT_AS_WRITTEN as error:
        raise UnreadableInput(file, f"its reference_time is no time ({error})", line=1) from None


def _take(log: _Log, name: str, data: dict[str, Any], utc_ns: int, group: object) -> None:
    event = name.partition(":")[2]
    if event == "metrics_updated":
        row: dict[str, object] = {"utc_ns": utc_ns}
        for key, value in data.items():
            if key in _GAUGES:
                row[_GAUGES[key]] = float(value)
        log.rows.append({**row, "quic_loss_count": 0})
    elif event in ("packet_sent", "packet_received"):
        packet = log.packet(data, group)
        if event == "packet_received":
            log.received.add(packet)
        if packet[1] == _PAYLOAD:
            log.first_ns.setdefault(event, {}).setdefault(packet[0], utc_ns)
    elif event == "packet_lost":
        log.lost.append((len(log.rows), log.packet(data, group)))
        log.rows.append({"utc_ns": utc_ns, "quic_loss_count": 1})


def _recognise(_: Path, content: bytes) -> bool:
    return b'"qlog_version"' in content[:4096]


FORMATS = (Format("qlog", _recognise, read_qlog, CLOCK, "table", table=TABLE),)
