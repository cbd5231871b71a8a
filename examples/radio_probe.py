# SPDX-License-Identifier: Apache-2.0
"""A log format in one file: the example of docs/extending.md.

A probe beside the radio prints a line twice a second, among whatever else it prints:

    probe 2026-11-22T10:00:00.500Z ue 0 rsrp -81.5 mcs 17

Its package names the tuple of formats in the entry point group `ddu.formats`, and `ddu describe`,
`ddu import` and `ddu analyze` know the format.
"""

from __future__ import annotations

import re
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import field, take
from ddu.readers.format import Format, LogClock, by_line
from ddu.readers.logs import LogTable, content_of, line_of, table_of, whole_lines

_REPORT = re.compile(r"^probe (\S+Z) ue (\d+)\b(.*)$")
_FIELDS = (field(r"rsrp (-?[\d.]+)", "mac_rsrp_dbm"), field(r"mcs (\d+)", "mac_dl_mcs"))
"""Columns have the names of ddu/schema/columns.yaml, which end in the unit."""


def read_probe(file: Path) -> LogTable:
    """Read one row per report. Raises UnreadableInput without any."""
    text, truncated_at = whole_lines(content_of(file))
    rows = []
    for line in text.splitlines():
        if match := _REPORT.match(line):
            values, extra = take(match[3], _FIELDS)
            row = {"utc_ns": line_of(0, match[1]).utc_ns, "ue": int(match[2]), **values}
            rows.append(row | ({"extra": extra} if extra else {}))
    if not rows:
        raise UnreadableInput(file, "no report of a radio probe in it")
    return LogTable(file, "radio-probe", table_of(rows, ("utc_ns", "ue")), "", truncated_at)


FORMATS = (
    Format(
        name="radio-probe",
        recognise=by_line(r"^probe \S+Z ue \d+ "),
        read=read_probe,
        clock=LogClock("times that stand in the log, by the probe's GPS", uncertainty_ns=1_000),
        holds="mac",
        source="probe",
    ),
)
