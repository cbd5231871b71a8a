# SPDX-License-Identifier: Apache-2.0
"""The description of a directory or file: its kind, size, time and faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ddu.console.input_file import MOST_BYTES_OF_JSON, parsed_json, read_bytes
from ddu.console.problems import RefusedError
from ddu.errors import NotARun, UnreadableInput
from ddu.readers.android.bugreport_text import is_bugreport
from ddu.readers.csv import read_samples
from ddu.readers.delays import FILE as DELAYS
from ddu.readers.delays import read_delays
from ddu.readers.fields import number
from ddu.readers.foreign_csv import ForeignCsv
from ddu.readers.formats import read_log
from ddu.readers.hercules import faults_of_series, read_series, version_of
from ddu.readers.mac_nr import HEAD_BYTES, is_mac_nr
from ddu.readers.packets.native.stream import PacketStream
from ddu.readers.packets.tables import TCP
from ddu.readers.sockets import read_sockets
from ddu.run.manifest import read_manifest

_CAPTURE_MAGIC = (
    b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a", b"\x1f\x8b", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
_NUMPY = b"\x93NUMPY"
_SCENARIO_COLUMNS = {"rsrp_dbm", "path_loss_db", "dl_capacity_mbps", "mbps", "re_1"}
_OWN_TABLES = {
    "flows": {"flow", "role", "capture_host"},
    "delay_cdf": {"flow", "share", "delay_ms"},
}
"""Tables of ddu whose rows have no time of their own, and columns that identify them."""
_RESULTS = ("tables", "figures", "report.html", "summary.json")

_RUN = "run directory"
_RUNS = "directory of runs"
_HERCULES = "Hercules run folder (`ddu import` makes run directories of it)"

Described = dict[str, Any]


def describe(path: Path) -> Described:
    """Return `path`, `kind`, and properties of that kind; of a directory also its `files`.

    Raises RefusedError when the path does not exist.
    """
    if path.is_dir():
        return _directory(path)
    if not path.exists():
        raise NotARun(path, "no such file or directory")
    if not path.is_file():
        return {"path": str(path), "kind": "not a regular file (a device, a pipe or a socket)"}
    return {"path": str(path), "bytes": path.stat().st_size} | _file(path)


def next_step(path: Path, description: Described) -> str | None:
    """Return the command for such a directory, without its argument; of a file none."""
    kind = description["kind"]
    if kind == _RUN:
        return "ddu serve" if (path / "report.html").exists() else "ddu analyze"
    return {_RUNS: "ddu compare", _HERCULES: "ddu import"}.get(kind)


def _directory(path: Path) -> Described:
    description: Described = {"path": str(path)}
    if (path / "run.json").exists():
        description |= _run(path)
        inside = [file for file in sorted((path / "raw").rglob("*")) if file.is_file()]
        description["results"] = [name for name in _RESULTS if (path / name).exists()]
    else:
        runs = sorted(manifest.parent.name for manifest in path.glob("*/run.json"))
        description["kind"] = _RUNS if runs else "directory"
        description |= {"runs": runs} if runs else {}
        inside = [] if runs else sorted(f for f in path.iterdir() if not f.name.startswith("."))
        description |= _foreign(inside)
    description["files"] = [describe(file) for file in inside if file.is_file()]
    return description


def _run(path: Path) -> Described:
    manifest = read_manifest(path)
    return {
        "kind": _RUN,
        "schema_version": manifest.schema_version,
        "status": manifest.status,
        "verdict": manifest.verdict,
        **({"kept": manifest.kept.level} if manifest.kept else {}),
        "experiment": manifest.experiment.model_dump(
            include={"cc", "direction", "prb", "scenario", "duration_s"}
        ),
        "flows": [f"{flow.id}: {flow.cc}, {flow.direction}" for flow in manifest.flows],
    }


def _foreign(files: list[Path]) -> Described:
    series = [file for file in files if file.is_dir() and file.name.startswith("csv_data")]
    if not series:
        return {}
    repeats = sorted({version_of(f.name) or "" for f in files} - {""}, key=int)
    faults = {folder.name: list(faults_of_series(folder, 0)) for folder in series}
    return {
        "kind": _HERCULES,
        "repeats": repeats,
        "faults": {name: some for name, some in faults.items() if some},
    }


def _file(path: Path) -> Described:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        return {"kind": "unreadable", "problem": error.strerror or str(error)}
    if not head:
        return {"kind": "empty file"}
    if is_mac_nr(head):
        return _or_problem(lambda: _log(path) or {"kind": "capture"}, "capture")
    if head.startswith(_CAPTURE_MAGIC) and not path.name.endswith((".tar.gz", ".tgz")):
        return _or_problem(lambda: _capture(path), "capture")
    if head.startswith(b"PAR1"):
        return _or_problem(lambda: _arrow(pq.read_table(path), "Parquet table"), "Parquet table")
    if head.startswith(b"ARROW1"):
        return _or_problem(
            lambda: _arrow(pa.ipc.open_file(path).read_all(), "Arrow table"), "Arrow table"
        )
    if is_bugreport(path):
        return _or_problem(lambda: _log(path) or {"kind": "zip"}, "zip or bugreport")
    if head.startswith(_NUMPY):
        return _or_problem(lambda: _array(path), "numpy array")
    if head.lstrip()[:1] == b"{":
        return _or_problem(lambda: _json(path), "JSON")
    return _text(path)


def _or_problem(describe_it: Callable[[], Described], kind: str) -> Described:
    try:
        return describe_it()
    except (RefusedError, pa.ArrowException, ValueError, OSError) as error:
        return {"kind": kind, "problem": str(error)}


def _capture(path: Path) -> Described:
    try:
        return _packets(path)
    except UnreadableInput:
        samples = read_sockets(path)
    table = samples.table.to_pandas()
    return {
        "kind": "socket samples (netlink capture)",
        "rows": len(table),
        "sockets": int(table[["src", "sport", "dst", "dport"]].drop_duplicates().shape[0]),
        "truncated_at": samples.truncated_at,
    } | _span(table["utc_ns"])


def _packets(path: Path) -> Described:
    stream = PacketStream(path, columns=["utc_ns"])
    count = sum(batch.num_rows for batch in stream)
    flows = stream.flows.to_pandas()
    largest = flows.sort_values("ip_bytes", ascending=False).head(5)
    description: Described = {
        "kind": "capture",
        "packets": count,
        "not_ip_frames": stream.skipped_count,
        "flows": len(flows),
        "tcp_flows": int((flows["proto"] == TCP).sum()),
        "largest_flows": [
            f"{row.src}:{row.sport} → {row.dst}:{row.dport} {row.ip_bytes} B"
            for row in largest.itertuples()
        ],
        "truncated_at": stream.truncated_at,
    }
    if not count:
        return description | {"problem": "no packet in it"}
    instants = pd.concat([flows["first_utc_ns"], flows["last_utc_ns"]])
    return description | _span(instants)


def _arrow(table: pa.Table, kind: str) -> Described:
    description: Described = {"kind": kind, "rows": table.num_rows, "columns": table.column_names}
    if "utc_ns" in table.column_names:
        description |= _span(table.column("utc_ns").to_pandas())
    metadata = table.schema.metadata or {}
    if b"ddu.alignment" in metadata:
        description["alignment"] = json.loads(metadata[b"ddu.alignment"])
    return description


def _array(path: Path) -> Described:
    """Describe the link's delays of packets; of any other array of numpy say no more than that."""
    read = read_delays(path.parent) if path.name == DELAYS else None
    if read is None:
        return {"kind": "numpy array"}
    instants = read.columns["sent_utc_ns"]
    return {
        "kind": "delays of packets (numpy array)",
        "rows": len(instants),
        "columns": [*read.columns],
        "truncated_at": read.truncated_at,
    } | _span(pd.Series(instants))


def _json(path: Path) -> Described:
    if description := _log(path):
        return description
    text = read_bytes(path, MOST_BYTES_OF_JSON).decode()
    lines = text.splitlines()
    try:
        content = parsed_json(text)
    except ValueError:
        parsed_json(lines[0] if lines else "")
        return {"kind": "JSON Lines", "rows": len(lines)}
    if not isinstance(content, dict):
        return {"kind": "JSON"}
    if {"start", "intervals", "end"} <= set(content) and isinstance(content["start"], dict):
        return {
            "kind": "iperf3 JSON",
            "version": content["start"].get("version"),
            "intervals": len(content["intervals"]),
            "problem": content.get("error"),
        }
    if "schema_version" in content and "run" in content:
        return {"kind": "summary.json" if "verdict_reasons" in content else "JSON"}
    return {"kind": "JSON", "keys": sorted(content)[:20]}


def _text(path: Path) -> Described:
    if path.suffix in (".yaml", ".yml"):
        return {"kind": "YAML"}
    with path.open("rb") as file:
        first = file.readline(200).partition(b",")[0].strip(b'"')  # Tables quote names.
    others = (_log, _scenario, _series, _samples)
    guesses = {b"utc_ns": (_samples,), b"flow": (_own_table, *others)}
    unknown: Described = {"kind": "unknown format"}
    for describe_it in guesses.get(first, others):
        try:
            description = describe_it(path)
        except (UnreadableInput, ValueError) as error:
            if describe_it is _log:  # It begins as a log that is known.
                unknown["problem"] = str(error)
            continue
        if description:
            return description
    return unknown


def _log(path: Path) -> Described | None:
    recognised = read_log(path)
    if recognised is None:
        return None
    _, log = recognised
    described: Described = {
        "kind": log.kind, "rows": len(log.table), "format_since": log.dialect or None,
        "columns": [str(name) for name in log.table if log.table[name].notna().any()],
        "truncated_at": log.truncated_at, "notes": list(log.notes),
    }  # fmt: skip
    known = log.table["utc_ns"].dropna() if "utc_ns" in log.table else pd.Series(dtype="int64")
    if len(known):
        return described | _span(known)
    return described | {
        "time": "no UTC in it: `ddu analyze` finds it by the capture (docs/log-sources.md)"
    }


def _samples(path: Path) -> Described:
    table = read_samples(path)
    return {
        "kind": "samples (CSV)",
        "rows": len(table),
        "columns": list(map(str, table.columns)),
        "truncated_at": table.attrs["truncated_at"],
    } | _span(table["utc_ns"])


def _own_table(path: Path) -> Described | None:
    table = ForeignCsv(path)
    there = set(table.names)
    name = next((name for name, needed in _OWN_TABLES.items() if needed <= there), None)
    if name is None:
        return None
    return {
        "kind": f"table {name} (CSV)",
        "rows": sum(1 for _ in table.rows()),
        "columns": table.names,
        "truncated_at": table.truncated_at,
    }


def _scenario(path: Path) -> Described:
    """Describe what `ccu scenario export csv` and `nr-link capacity` write: without UTC."""
    table = ForeignCsv(path)
    if not table.names or table.names[0] != "t_s" or not set(table.names) & _SCENARIO_COLUMNS:
        raise UnreadableInput(path, "not a scenario over time")
    seconds = [number(cells[0]) for cells in table.rows()]
    return {
        "kind": "scenario over time (CSV)",
        "rows": len(seconds),
        "columns": table.names,
        "seconds": seconds[-1] if seconds else None,
        "truncated_at": table.truncated_at,
    }


def _series(path: Path) -> Described:
    series = read_series(path)
    return {
        "kind": "Hercules series",
        "rows": len(series),
        "flows": sorted(series["flow"].unique()),
    }


def _span(instants: pd.Series) -> Described:
    if not len(instants):
        return {}
    first, last = int(instants.min()), int(instants.max())
    return {"first_utc": _utc(first), "last_utc": _utc(last), "seconds": (last - first) / 1e9}


def _utc(ns: int) -> str:
    return (
        f"{datetime.fromtimestamp(ns // 10**9, timezone.utc):%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09d}Z"
    )
