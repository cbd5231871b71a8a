# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's traces (Netravali et al., USENIX ATC 2015): one stamp in ms a line, each an
opportunity of 1504 bytes. They are played as they are, so the files are copied
and only looked at here."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.found import Found, Wanted, not_too_long
from testbed_console.problems import refusal

OPPORTUNITY_BYTES = 1504


def read(file: Path, wanted: Wanted) -> Found:
    """The trace as downlink; `wanted.ul` as uplink, else the downlink's mean rate."""
    last_ms, count = look(file)
    copies = {f"{wanted.name}.down": file}
    mbps = count * OPPORTUNITY_BYTES * 8 / last_ms / 1e3
    ul: dict[str, object] = {"constant_mbps": round(max(mbps, 1.0), 3)}
    sources = [f"Downlink: Mahimahi trace {file.name}."]
    if wanted.ul:
        look(wanted.ul)
        copies[f"{wanted.name}.up"] = wanted.ul
        ul = {"trace": {"file": f"{wanted.name}.up", "format": "mahimahi"}}
        sources.append(f"Uplink: Mahimahi trace {wanted.ul.name}.")
    else:
        sources.append("Uplink: chosen, the downlink's mean.")
    dl = {"trace": {"file": f"{wanted.name}.down", "format": "mahimahi"}}
    return Found(
        duration_s=not_too_long(file, last_ms / 1e3),
        summary=f"Mahimahi trace {file.name}: {mbps:.1f} Mbit/s in the mean.",
        sources=sources,
        body={"capacity": {"dl": dl, "ul": ul}},
        copies=copies,
    )


def look(file: Path) -> tuple[int, int]:
    """The last stamp and how many there are. Raises RefusedError."""
    csv_table.opened(file)
    stamps = csv_table.read(file, {"ms": pa.int64()}, column_names=["ms"])["ms"]
    ms = csv_table.numbers(file, stamps, "the stamp", 1)
    csv_table.rising(file, ms, 1, "ms", strictly=False)
    if ms[0] < 0:
        raise refusal(f"stamp {ms[0]:g} ms is negative", "count from 0", file=file, line=1)
    if ms[-1] == 0:
        raise refusal("all stamps are 0 ms", "the last one is where the trace repeats", file=file)
    return int(ms[-1]), len(ms)
