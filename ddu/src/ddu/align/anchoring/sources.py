# SPDX-License-Identifier: Apache-2.0
"""Brings a run's sources that lack UTC onto its clock, and refuses those of another run.

What was done is in `Recording.alignment`, by source, and ends up in summary.json and in the
tables' metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.anchoring.anchor import DAY_NS, Anchor, by_file_time, by_zone
from ddu.align.anchoring.correlation import Traffic, by_correlation
from ddu.align.mac_samples import mac_samples
from ddu.metrics.observe import ObservedFlow
from ddu.readers.android import drive_test
from ddu.readers.android import log as android
from ddu.readers.android.events import events_of, fell_back
from ddu.readers.logs import LogTable
from ddu.readers.recording import Recording
from ddu.schema.arrays import Float, Int

_CLOCKS = {"uptime_ns": "uptime", "radio_ns": "radio", "local_ns": "local", "of_day_ns": "of_day"}
_READING = {
    "source": "UTC",
    "method": "times of reading the statistics file, which the gNB rewrites about once a second",
    "uncertainty_ns": 1_000_000_000,
}
_WHOLE_SECONDS = {
    "source": "UTC",
    "method": "whole seconds since 1970 that stand in the file",
    "uncertainty_ns": 1_000_000_000,
}
_ARRIVAL = {
    "source": "UTC",
    "method": "times that stand in the log",
    "uncertainty_ns": 100_000_000,
}
"""A line may wait in a pipe before it is stamped."""
_READING_NS = 100_000_000
"""What a phone takes for a reading, at most; seen are some 30 ms."""
_TOLD: dict[str, dict[str, Any]] = {
    "oai-mac-readings": _READING,
    "hercules-wireless": _WHOLE_SECONDS,
}


def anchor_sources(run: Recording, flows: Sequence[ObservedFlow]) -> None:
    """Gives `run.mac` and `run.sockets` what their logs say, in UTC; tells what cannot be."""
    if run.mac_log is not None:
        _anchor_mac(run, run.mac_log, flows)
    for log, host, interval_ms in run.socket_logs:
        _anchor_sockets(run, log, host, interval_ms, flows)
    for name in ("mac", "link", "sockets", "cc_trace"):
        if not _is_of_run(run, name, getattr(run, name), flows):
            setattr(run, name, None)
    for name in [each for each, own in run.oai.items() if not _is_of_run(run, each, own, flows)]:
        del run.oai[name], run.alignment[name]


def span_ns(flows: Sequence[ObservedFlow]) -> tuple[int, int]:
    """From the first payload packet sent to the last one seen anywhere."""
    return min(flow.first_utc_ns for flow in flows), max(flow.last_utc_ns for flow in flows)


def _anchor_mac(run: Recording, log: LogTable, flows: Sequence[ObservedFlow]) -> None:
    if log.table["utc_ns"].notna().any():
        told: dict[str, Any] = dict(_TOLD.get(log.kind, _ARRIVAL))
        if log.kind in (android.KIND, drive_test.KIND):
            told = _by_phones_clock(run, log)
    else:
        anchor = _of_mac(log, flows)
        if anchor is None:
            run.faults.append(
                f"{log.file.name} has no time that could be brought onto the run's clock; its "
                "columns are null."
            )
            return
        told = anchor.as_dict()
        column = next(name for name, clock in _CLOCKS.items() if clock == anchor.source)
        log.table["utc_ns"] = _converted(log.table[column], anchor)
    run.mac = mac_samples(log)
    if not len(run.mac):
        run.mac = None
        run.faults.append(f"{log.file.name} has fewer than two reports of a UE: nothing to align.")
        return
    run.alignment["mac"] = told | {"file": log.file.name, "format": log.kind, "notes": log.notes}


def _by_phones_clock(run: Recording, log: LogTable) -> dict[str, Any]:
    """Readings bear the phone's own time; ccu measured what that is apart from the server's."""
    at = log.table["utc_ns"]
    known = at.notna()
    found = pd.Series(pd.NA, index=at.index, dtype="Int64")
    instants = at[known].to_numpy(dtype=np.int64)
    found[known] = run.clock("ue").corrected(instants) - _since_set(run, instants)
    log.table["utc_ns"] = found
    run.events = events_of(log.table[known])
    if fell := fell_back(log.table[known]):
        run.faults.append(fell)
    uncertainty_ns = run.manifest.time.offset_uncertainty_ns
    return {
        "source": "the phone's clock",
        "method": "time before each reading, less the phone's offset in run.json",
        "offset_ns": run.manifest.time.offset_ns,
        "uncertainty_ns": _READING_NS + uncertainty_ns if uncertainty_ns is not None else None,
    }


def _since_set(run: Recording, instants: Int) -> Int:
    """By how much a clock that was set during the run is off in each reading: it was set where
    the step between two readings differs most from the usual one, if by about that much."""
    off = np.zeros(len(instants), dtype=np.int64)
    before, after = run.manifest.time.offset_ns, run.manifest.time.offset_after_ns
    if before is None or after is None or len(instants) < 3:
        return off
    steps = np.diff(instants)
    at = int(np.argmax(np.sign(after - before) * steps))
    if abs(steps[at] - np.median(steps) - (after - before)) < abs(after - before) / 2:
        off[at + 1 :] = after - before
    return off


def _of_mac(log: LogTable, flows: Sequence[ObservedFlow]) -> Anchor | None:
    way = flows[0].flow.direction
    rows = log.table[log.table["ue"] == log.table["ue"].iloc[0]]
    for column in ("local_ns", "of_day_ns"):
        if column in rows and rows[column].notna().any():
            at = _unwrapped(rows[column], column)
            return by_zone(column.removesuffix("_ns"), at, *span_ns(flows))
    for column in ("uptime_ns", "radio_ns"):
        if column not in rows or rows[column].isna().any():
            continue
        at = rows[column].to_numpy(dtype=np.int64)
        counter = _counter(rows, at, way)
        if counter is not None:
            found = by_correlation(_CLOCKS[column], at, counter, _traffic(flows, way))
            if found is not None:
                return found
        return _by_file(log, column, at, flows)
    return None


def _by_file(log: LogTable, column: str, at: Int, flows: Sequence[ObservedFlow]) -> Anchor | None:
    period_ns = int(np.median(np.diff(at))) if len(at) > 1 else 0
    written_ns = log.file.stat().st_mtime_ns
    anchor = by_file_time(_CLOCKS[column], int(at[-1]), written_ns, period_ns)
    first, last = span_ns(flows)
    overlaps = anchor.utc_ns(at)[-1] >= first and anchor.utc_ns(at)[0] <= last
    return anchor if overlaps else None


def _counter(rows: pd.DataFrame, at: Int, way: str) -> Float | None:
    """Bytes that the log counts in a direction; from its goodput where it has no counter."""
    channels = [name for name in rows if str(name).startswith(f"mac_{way}_lcid_")]
    if channels:
        found: Float = rows[channels].sum(axis=1, min_count=1).to_numpy(dtype=np.float64)
        return found
    if f"mac_{way}_bytes" in rows:
        return rows[f"mac_{way}_bytes"].to_numpy(dtype=np.float64)
    if f"mac_{way}_goodput_bps" in rows:
        rate = rows[f"mac_{way}_goodput_bps"].to_numpy(dtype=np.float64)
        seconds = np.diff(at, prepend=at[0]) / 1e9
        return np.cumsum(np.nan_to_num(rate) * seconds / 8)
    return None


def _traffic(flows: Sequence[ObservedFlow], way: str) -> Traffic:
    """Of all flows in a direction: what arrived, as far as it was seen."""
    own = [flow.arrivals for flow in flows if flow.flow.direction == way]
    own = own or [flow.arrivals for flow in flows]
    at = np.concatenate([utc_ns for utc_ns, _ in own])
    size = np.concatenate([size_bytes.astype(np.int64) for _, size_bytes in own])
    order = np.argsort(at, kind="stable")
    return Traffic(at[order], size[order])


def _anchor_sockets(
    run: Recording, log: LogTable, host: str, interval_ms: float, flows: Sequence[ObservedFlow]
) -> None:
    table = log.table
    told: dict[str, Any] = dict(_ARRIVAL)
    if table["utc_ns"].isna().all():
        column = "local_ns" if table["local_ns"].notna().any() else "of_day_ns"
        at = _unwrapped(table[column], column)
        anchor = by_zone(column.removesuffix("_ns"), at, *span_ns(flows)) if len(at) else None
        if anchor is None:
            run.faults.append(
                f"{log.file.name}: its times fit the capture in no zone and on no day; its columns "
                "are null. Is it of another run?"
            )
            return
        told = anchor.as_dict()
        table = table[table[column].notna()].assign(utc_ns=anchor.utc_ns(at))
    else:
        table = table[table["utc_ns"].notna()]
    table = table.astype({"utc_ns": "int64"}).assign(host=host, interval_ms=interval_ms)
    for name in ("snd_ssthresh_packets", "ca_state"):
        if name not in table:
            table[name] = np.nan
    both = [table] if run.sockets is None else [run.sockets, table]
    run.sockets = pd.concat(both, ignore_index=True).sort_values("utc_ns", kind="stable")
    run.alignment["sockets"] = told | {
        "file": log.file.name, "format": log.kind, "notes": log.notes,
    }  # fmt: skip


def _unwrapped(values: pd.Series, column: str) -> Int:
    """Times of day go on over midnight."""
    at: Int = values.dropna().to_numpy(dtype=np.int64)
    if column != "of_day_ns" or len(at) < 2:
        return at
    days = np.concatenate([[0], np.cumsum(np.diff(at) < -DAY_NS // 2)])
    continued: Int = at + days * DAY_NS
    return continued


def _converted(values: pd.Series, anchor: Anchor) -> pd.Series:
    known = values.notna()
    found = pd.Series(pd.NA, index=values.index, dtype="Int64")
    found[known] = anchor.utc_ns(values[known].to_numpy(dtype=np.int64))
    return found


def _is_of_run(
    run: Recording, name: str, table: pd.DataFrame | None, flows: Sequence[ObservedFlow]
) -> bool:
    """False: its times are those of another run, which is told in `faults`."""
    if table is None or table["utc_ns"].isna().all():
        return True
    first, last = span_ns(flows)
    begins = int(table["utc_ns"].min())
    ends = int(table["utc_ns"].max())
    if "duration_ns" in table:
        ends += int(table["duration_ns"].iloc[-1])
    if ends >= first and begins <= last:
        return True
    run.faults.append(
        f"The samples of {name.removesuffix('_trace')} are from {_utc(begins)} to {_utc(ends)}, "
        f"the traffic from {_utc(first)} to {_utc(last)}: they are of another run, or of a clock "
        "that is wrong. They are left out."
    )
    return False


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
