# SPDX-License-Identifier: Apache-2.0
"""The MAC's samples on the run's clock, out of whatever log has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ddu.align.anchoring.anchor import Anchor, by_file_time, by_zone
from ddu.align.anchoring.anchored import Anchored, alignment_of, unwrapped
from ddu.align.anchoring.correlation import by_correlation
from ddu.align.anchoring.traffic import RunTraffic
from ddu.align.clocks.clock import Clock
from ddu.align.mac_samples import mac_samples
from ddu.readers.format import LogClock
from ddu.readers.formats import format_of
from ddu.readers.logs import LogTable
from ddu.run.manifest import Time
from ddu.schema.arrays import Float, Int

_CLOCKS = {"uptime_ns": "uptime", "radio_ns": "radio", "local_ns": "local", "of_day_ns": "of_day"}


def anchored_mac(
    log: LogTable, clock_of: Callable[[str], Clock], time: Time, traffic: RunTraffic
) -> Anchored:
    """Bring a log onto the run's clock and make samples of its reports."""
    known = log.table["utc_ns"].notna()
    form = format_of(log)
    events, warning = None, None
    if not known.any():
        anchor = _anchor(log, traffic)
        if anchor is None:
            return Anchored(
                faults=(
                    f"{log.file.name} has no time that could be brought onto the run's clock; its "
                    "columns are null.",
                )
            )
        column = next(name for name, clock in _CLOCKS.items() if clock == anchor.source)
        alignment = anchor.as_dict()
        continued = log.table[column].copy()
        continued[continued.notna()] = unwrapped(continued, column)
        log = log.with_columns(utc_ns=_converted(continued, anchor.utc_ns))
    else:
        alignment = form.clock.as_dict()
        if form.clock.host is not None:
            clock = clock_of(form.clock.host)
            utc_ns = _converted(
                log.table["utc_ns"], lambda at: clock.corrected(at) - _since_set(time, at)
            )
            log = log.with_columns(utc_ns=utc_ns)
            alignment = _with_offset(form.clock, time)
        if form.events is not None:
            events = form.events(log.table[known])
        warning = form.warning(log.table[known])
    faults = [warning] if warning else []
    samples = mac_samples(log)
    if not len(samples):
        faults.append(f"{log.file.name} has fewer than two reports of a UE: nothing to align.")
        return Anchored(events=events, faults=tuple(faults))
    return Anchored(samples, alignment_of(alignment, log), events, tuple(faults))


def _with_offset(clock: LogClock, time: Time) -> dict[str, Any]:
    """ccu measured what the clock of a phone is ahead of the server's, and how well."""
    of_offset_ns = time.offset_uncertainty_ns
    return {
        "source": clock.source,
        "method": clock.method,
        "offset_ns": time.offset_ns,
        "uncertainty_ns": None if of_offset_ns is None else clock.uncertainty_ns + of_offset_ns,
    }


def _since_set(time: Time, instants: Int) -> Int:
    """Return by how much a clock that was set during the run is off in each reading: it was set
    where the step between two readings differs most from the usual one, if by about that much."""
    off = np.zeros(len(instants), dtype=np.int64)
    before, after = time.offset_ns, time.offset_after_ns
    if before is None or after is None or len(instants) < 3:
        return off
    steps = np.diff(instants)
    at = int(np.argmax(np.sign(after - before) * steps))
    if abs(steps[at] - np.median(steps) - (after - before)) < abs(after - before) / 2:
        off[at + 1 :] = after - before
    return off


def _anchor(log: LogTable, traffic: RunTraffic) -> Anchor | None:
    rows = log.table[log.table["ue"] == log.table["ue"].iloc[0]]
    for column in ("local_ns", "of_day_ns"):
        if column in rows and rows[column].notna().any():
            at = unwrapped(rows[column], column)
            source = column.removesuffix("_ns")
            return by_zone(source, at, traffic.first_utc_ns, traffic.last_utc_ns)
    for column in ("uptime_ns", "radio_ns"):
        if column not in rows or rows[column].isna().any():
            continue
        at = rows[column].to_numpy(dtype=np.int64)
        counter = _counter(rows, at, traffic.direction)
        if counter is not None:
            anchor = by_correlation(_CLOCKS[column], at, counter, traffic.arrived())
            if anchor is not None:
                return anchor
        return _by_file(log, column, at, traffic)
    return None


def _by_file(log: LogTable, column: str, at: Int, traffic: RunTraffic) -> Anchor | None:
    period_ns = int(np.median(np.diff(at))) if len(at) > 1 else 0
    written_ns = log.file.stat().st_mtime_ns
    anchor = by_file_time(_CLOCKS[column], int(at[-1]), written_ns, period_ns)
    instants = anchor.utc_ns(at)
    overlaps = instants[-1] >= traffic.first_utc_ns and instants[0] <= traffic.last_utc_ns
    return anchor if overlaps else None


def _counter(rows: pd.DataFrame, at: Int, direction: str) -> Float | None:
    """Return the bytes that the log counts in a direction, by its goodput where it counts none."""
    channels = [name for name in rows if str(name).startswith(f"mac_{direction}_lcid_")]
    if channels:
        total: Float = rows[channels].sum(axis=1, min_count=1).to_numpy(dtype=np.float64)
        return total
    if f"mac_{direction}_bytes" in rows:
        return rows[f"mac_{direction}_bytes"].to_numpy(dtype=np.float64)
    if f"mac_{direction}_goodput_bps" in rows:
        rate = rows[f"mac_{direction}_goodput_bps"].to_numpy(dtype=np.float64)
        seconds = np.diff(at, prepend=at[0]) / 1e9
        return np.cumsum(np.nan_to_num(rate) * seconds / 8)
    return None


def _converted(values: pd.Series, to_utc_ns: Callable[[Int], Int]) -> pd.Series:
    known = values.notna()
    converted = pd.Series(pd.NA, index=values.index, dtype="Int64")
    converted[known] = to_utc_ns(values[known].to_numpy(dtype=np.int64))
    return converted
