# SPDX-License-Identifier: Apache-2.0
"""The CSV files of Hercules's published run folders, and what is wrong with them.

Source: Hercules (WiNTECH 2023, reference [1] of the paper), its folders `csv_data…`. Each series
has a flow's name over two or three columns, the first of them its time, separated by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values, number
from ddu.readers.format import Format, LogClock, by_line
from ddu.readers.logs import LogTable, content_of, table_of, whole_lines

WIRELESS_FIRST = ("utc_ns", "ue", "mac_rsrp_dbm")
_WIDTHS = {"cwnd_values": 3, "retransmissions_interval": 3, "retransmissions": 1}
_CLOCK_DAY = 240_000


def read_wireless(file: Path) -> LogTable:
    """`wireless_data.csv`: seconds since 1970 and RSRP; further columns are kept in `extra`.

    Raises UnreadableInput for a line without them.
    """
    text, truncated_at = whole_lines(content_of(file))
    rows: list[Values] = []
    for index, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        cells = line.split(",")
        at, rsrp = number(cells[0]), number(cells[1]) if len(cells) > 1 else None
        # 64 bits of nanoseconds hold no later instant.
        if at is None or not abs(at) < 9e9 or len(cells) < 2:
            raise UnreadableInput(file, "not a time and an RSRP", line=index)
        row: Values = {"utc_ns": round(at * 1e9), "ue": 0, "mac_rsrp_dbm": rsrp}
        rows.append(row | ({"extra": ",".join(cells[2:])} if len(cells) > 2 else {}))
    return LogTable(file, "hercules-wireless", table_of(rows, WIRELESS_FIRST), "", truncated_at)


def read_series(file: Path) -> pd.DataFrame:
    """Read a series as rows of `flow` (as they name it), `time`, `value`, `value_2`.

    Times and values are as they stand in the file. Raises UnreadableInput when it is not a series.
    """
    text, _ = whole_lines(content_of(file))
    lines = text.splitlines()
    names = lines[0].rstrip(";").split(";") if lines else []
    width = _WIDTHS.get(file.stem, 2)
    if not names or len(names) % width or not text.startswith(("(", "total", "Throughput", "Send")):
        raise UnreadableInput(file, "not the names of Hercules's series", line=1)
    rows = []
    for line in lines[1:]:
        cells = line.split(";")
        for at in range(0, len(names), width):
            some = cells[at : at + width]
            if some and some[0]:
                values = [number(cell) for cell in some]
                rows.append((names[at], *(values + [None] * (3 - len(values)))))
    return pd.DataFrame(rows, columns=["flow", "time", "value", "value_2"])


def faults_of_series(directory: Path, data_flows: int) -> Iterator[str]:
    """Yield what is wrong with the series of a folder, as sentences."""
    for file in sorted(directory.glob("*.csv")):
        if file.name in ("wireless_data.csv", "ci_throughput_delay.csv"):
            continue
        try:
            series = read_series(file)
        except UnreadableInput as error:
            yield str(error)
            continue
        yield from _of_times(file, series)
        if file.stem == "fairness":
            yield from _of_fairness(file, series, data_flows)
        if file.stem == "cwnd_values":
            yield from _of_windows(file, series, data_flows)


def _of_times(file: Path, series: pd.DataFrame) -> Iterator[str]:
    times = series["time"].dropna()
    if len(times) < 2 or times.max() >= _CLOCK_DAY:
        return
    leaps = np.diff(np.sort(times.unique()))
    if any(abs(leap % 100 - 40) < 1.5 for leap in leaps if leap > 30):
        yield (
            f"{file.name}: its times are HHMMSS read as a number of seconds: they leap by 40 s at "
            "each full minute, and have neither date nor zone."
        )
    else:
        yield f"{file.name}: its times have neither date nor zone."


def _of_fairness(file: Path, series: pd.DataFrame, data_flows: int) -> Iterator[str]:
    least = series["value"].min()
    if data_flows and least < 1 / data_flows - 0.01:
        counted = f", the least of {round(1 / least)} flows" if least > 0 else ""
        yield (
            f"{file.name}: Jain's index goes down to {least:.2f}{counted}, "
            f"but {data_flows} carry data: control connections are counted as flows."
        )


def _of_windows(file: Path, series: pd.DataFrame, data_flows: int) -> Iterator[str]:
    header = file.read_text(errors="replace").split("\n", 1)[0]
    named = {name for name in header.split(";") if name}
    if data_flows and len(named) > data_flows:
        yield (
            f"{file.name}: has columns for {len(named)} connections, {data_flows} carry data: "
            "control connections are among them."
        )
    if (series["value_2"] == 0).any():
        yield f"{file.name}: a slow-start threshold that was not set is written as 0."


def version_of(name: str) -> str | None:
    """Return the repeat that a file or folder belongs to: `…_v7.cc`, `…_DL_7.cc`, `csv_datav7`."""
    stem = re.sub(r"(\.(tar|t?gz|zst|pcap|pcapng|cc|json|csv|log|txt))+$", "", name)
    match = re.search(r"(?:_v?|datav)(\d{1,2})$", stem)
    return match[1] if match else None


def named_congestion_controls(name: str) -> Iterator[tuple[str, int | None]]:
    """Yield the congestion controls that a file's name states, with the port where it states it."""
    known = "cubic|reno|vegas|yeah|bbr2?|westwood|reminis|illinois|htcp|bic|dctcp|scalable|nv"
    for control, port in re.findall(
        rf"(?<![a-z])({known})(?:_(\d{{4,5}}))?(?![a-z])", name.lower()
    ):
        yield control, int(port) if port else None


FORMATS = (
    Format(
        "hercules-wireless", by_line(r"^\d{9,10}(?:\.\d+)?, *-\d"), read_wireless,
        LogClock("whole seconds since 1970 that stand in the file", 1_000_000_000), "mac",
        source="hercules",
    ),
)  # fmt: skip
