# SPDX-License-Identifier: Apache-2.0
"""The intervals that both ends of iperf3 report, as one table."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.format import LogClock
from ddu.readers.iperf3 import read_iperf3
from ddu.readers.source_table import SourceTable

_NAME = re.compile(r"iperf3-(.+)-(client|server)\.json")
_CLOCK = LogClock(
    "iperf3 states the second in which it began; intervals count from there", 1_000_000_000
)


def read_iperf3_files(raw: Path) -> SourceTable | None:
    """Return `flow`, `end` (client, server) and the columns of ddu.readers.iperf3; None without any
    interval.

    A file without one, as an interrupted test leaves it, is not a fault of the run: ddu.checks
    compares what it should have said with other sources.
    """
    parts, files, notes = [], [], []
    for file in sorted(raw.glob("iperf3-*.json")):
        named = _NAME.fullmatch(file.name)
        if named is None:
            continue
        try:
            log = read_iperf3(file)
        except UnreadableInput as error:
            notes.append(str(error).replace(f"{file.parent}/", ""))
            continue
        parts.append(log.table.assign(flow=named[1], end=named[2]))
        files.append(file.name)
        notes += log.notes
    if not parts:
        return None
    table = pd.concat(parts, ignore_index=True)
    first = ["utc_ns", "flow", "end"]
    alignment = _CLOCK.as_dict() | {
        "format": "iperf3",
        "file": ", ".join(files),
        "notes": list(dict.fromkeys(notes)),
    }
    return SourceTable(table[[*first, *table.columns.difference(first, sort=False)]], alignment)
