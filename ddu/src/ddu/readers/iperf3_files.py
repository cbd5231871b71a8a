# SPDX-License-Identifier: Apache-2.0
"""What both ends of iperf3 said of each interval, as one table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.iperf3 import read_iperf3

_NAME = re.compile(r"iperf3-(.+)-(client|server)\.json")
_TOLD = {
    "source": "UTC",
    "method": "iperf3 states the second in which it began; intervals count from there",
    "uncertainty_ns": 1_000_000_000,
    "format": "iperf3",
}


def read_iperf3_files(raw: Path, alignment: dict[str, Any]) -> pd.DataFrame | None:
    """`flow`, `end` (client, server) and ddu.readers.iperf3's columns; None without any interval.

    A file that holds none, as a test leaves that was broken off, is no fault of the run's: what it
    should have said is compared elsewhere (ddu.checks).
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
    alignment["iperf3"] = _TOLD | {"file": ", ".join(files), "notes": list(dict.fromkeys(notes))}
    table = pd.concat(parts, ignore_index=True)
    first = ["utc_ns", "flow", "end"]
    return table[[*first, *table.columns.difference(first, sort=False)]]
