# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's traces (Netravali et al., USENIX ATC 2015): one timestamp in ms per line, each an
opportunity to deliver 1504 bytes. They are played unchanged: this module checks and copies them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions, not_too_long
from ddu.console.problems import refusal

OPPORTUNITY_BYTES = 1504


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the trace as downlink; `options.ul` as uplink, else the downlink's mean rate, which is
    at least 1 Mbit/s then."""
    last_ms, count = check(file)
    copies = {f"{options.name}.down": file}
    mbps = count * OPPORTUNITY_BYTES * 8 / last_ms / 1e3
    ul: dict[str, object] = {"constant_mbps": round(max(mbps, 1.0), 3)}
    sources = [f"Downlink: Mahimahi trace {file.name}."]
    if options.ul:
        check(options.ul)
        copies[f"{options.name}.up"] = options.ul
        ul = {"trace": {"file": f"{options.name}.up", "format": "mahimahi"}}
        sources.append(f"Uplink: Mahimahi trace {options.ul.name}.")
    else:
        sources.append("Uplink: chosen, the downlink's mean, at least 1 Mbit/s.")
    dl = {"trace": {"file": f"{options.name}.down", "format": "mahimahi"}}
    return ImportedScenario(
        duration_s=not_too_long(file, last_ms / 1e3),
        summary=f"Mahimahi trace {file.name}: {mbps:.1f} Mbit/s on average.",
        sources=sources,
        body={"capacity": {"dl": dl, "ul": ul}},
        copies=copies,
    )


def check(file: Path) -> tuple[int, int]:
    """Return the last timestamp, ms, and the number of timestamps. Raises RefusedError."""
    csv_table.readable_text(file)
    stamps = csv_table.read(file, {"ms": pa.int64()}, column_names=["ms"])["ms"]
    ms = csv_table.numbers(file, stamps, "the stamp", 1)
    csv_table.rising(file, ms, 1, "ms", strictly=False)
    if ms[0] < 0:
        raise refusal(f"timestamp {ms[0]:g} ms is negative", "count from 0", file=file, line=1)
    if ms[-1] == 0:
        raise refusal(
            "all timestamps are 0 ms", "write the trace's duration as the last one", file=file
        )
    return int(ms[-1]), len(ms)
