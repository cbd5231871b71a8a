# SPDX-License-Identifier: Apache-2.0
"""The samples of all hosts' sockets on the run's clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ddu.align.anchoring.anchor import by_zone
from ddu.align.anchoring.anchored import Anchored, alignment_of, unwrapped
from ddu.align.anchoring.traffic import RunTraffic
from ddu.align.clocks.clock import Clock
from ddu.readers.formats import format_of
from ddu.readers.logs import LogTable
from ddu.readers.recording import Sockets
from ddu.run.manifest import SocketSamples

_NEEDED = ("snd_ssthresh_packets", "ca_state")


def anchored_sockets(
    sources: Sequence[Sockets], clock_of: Callable[[str], Clock], traffic: RunTraffic
) -> Anchored:
    """Join the sources in order of time; the alignment is that of the last log among them."""
    tables = [
        _of_host(each.samples, each.declared).assign(
            utc_ns=clock_of(each.declared.host).corrected(each.samples["utc_ns"].to_numpy())
        )
        for each in sources
        if each.samples is not None
    ]
    joined = _joined(tables)
    alignment = None
    faults: list[str] = []
    for each in sources:
        if each.log is None:
            continue
        anchored = _anchored_log(each.log, each.declared, traffic)
        faults += anchored.faults
        if anchored.table is not None:
            joined = _joined([anchored.table] if joined is None else [joined, anchored.table])
            alignment = anchored.alignment
    return Anchored(joined, alignment, faults=tuple(faults))


def _anchored_log(log: LogTable, declared: SocketSamples, traffic: RunTraffic) -> Anchored:
    """Bring a log onto the run's clock: by its own UTC, or by the zone and date that fit."""
    table, clock = log.table, format_of(log).clock.as_dict()
    if table["utc_ns"].isna().all():
        column = "local_ns" if table["local_ns"].notna().any() else "of_day_ns"
        at = unwrapped(table[column], column)
        source = column.removesuffix("_ns")
        anchor = by_zone(source, at, traffic.first_utc_ns, traffic.last_utc_ns) if len(at) else None
        if anchor is None:
            return Anchored(
                faults=(
                    f"{log.file.name}: its times fit the capture in no zone and on no day; its "
                    "columns are null. Is it of another run?",
                )
            )
        clock = anchor.as_dict()
        table = table[table[column].notna()].assign(utc_ns=anchor.utc_ns(at))
    else:
        table = table[table["utc_ns"].notna()]
    table = _of_host(table.astype({"utc_ns": "int64"}), declared)
    missing = {name: np.nan for name in _NEEDED if name not in table}
    return Anchored(table.assign(**missing), alignment_of(clock, log))


def _of_host(table: pd.DataFrame, declared: SocketSamples) -> pd.DataFrame:
    return table.assign(host=declared.host, interval_ms=declared.interval_ms)


def _joined(tables: list[pd.DataFrame]) -> pd.DataFrame | None:
    if not tables:
        return None
    return pd.concat(tables, ignore_index=True).sort_values("utc_ns", kind="stable")
