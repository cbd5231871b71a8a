# SPDX-License-Identifier: Apache-2.0
"""CSV with a line of names that say what the columns are: a time, and rates or RSRP and SINR.

Names count without case, blanks and signs: `Time (s)`, `t_s`, `DL throughput [Mbit/s]`, `dl_mbps`,
`RSRP (dBm)`, `SINR_dB` and the like. A time is in the unit that its name ends with, else in
seconds, or an ISO 8601 timestamp.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    covered_s,
    radio_series,
    rate_series,
)
from ddu.console.problems import refusal

_TIME = re.compile(
    r"(?:t|time|times?tamp|seconds?|secs?|date_?time|utc)(?:_(?P<unit>s|sec|ms|us|ns))?"
)
_SECONDS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_RATE = re.compile(r"(?P<what>.*?)_?(?P<unit>[kmg]?)(?:bps|bit_s|bits_s|bit_per_s|bits_per_second)")
_MBPS = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}
_UPLINK = re.compile(r"(?:^|_)(?:ul|up|uplink|upload|tx)(?:_|$)")
_RSRP = re.compile(r"(?:.*_)?rsrp(?:_dbm)?")
_SINR = re.compile(r"(?:.*_)?(?:sinr|snr|rssnr)(?:_db)?")
_WITH_ZONE = re.compile(r".*:.*(?:Z|[+-]\d\d(?::?\d\d)?)")
"""ISO 8601 with the zone's offset: behind the time of day, which has a colon."""
_EXAMPLE = "name them, for example t_s,dl_mbps or t_s,rsrp_dbm,sinr_db"


class _Columns(NamedTuple):
    """The names of the columns, as the file has them; None where there is none."""

    time: str
    time_s: float
    """The time's unit in s."""
    rates: dict[str, tuple[str, float]]
    """A column and its unit in Mbit/s, by direction: dl, ul."""
    rsrp: str | None
    sinr: str | None


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the radio if the file has RSRP, else the rates; `options.kind` decides otherwise."""
    columns = _columns(file)
    if options.kind != "capacity" and columns.rsrp:
        return _radio(file, options, columns)
    if options.kind == "radio" or "dl" not in columns.rates:
        wanted = "RSRP" if options.kind == "radio" else "RSRP or a downlink rate"
        raise refusal(f"has no column of {wanted}", _EXAMPLE, file=file, line=1)
    return _capacity(file, options, columns)


def _columns(file: Path) -> _Columns:
    """Return what the names of the first line say. Raises RefusedError."""
    all_names = csv_table.names(file, [], "named columns")
    by_plain: dict[str, str] = {}
    for name in all_names:
        by_plain.setdefault(_plain(name), name)
    times = [(match, name) for plain, name in by_plain.items() if (match := _TIME.fullmatch(plain))]
    if not times:
        there = ", ".join(by_plain.values())[:200]
        raise refusal(f"has no column of the time (there are {there})", _EXAMPLE, file=file, line=1)
    match, time = times[0]
    rates: dict[str, tuple[str, float]] = {}
    for plain, name in by_plain.items():
        if rate := _RATE.fullmatch(plain):
            if "Bps" in name:
                raise refusal(f"{name} is in bytes", "write bits per second", file=file, line=1)
            direction = "ul" if _UPLINK.search(rate["what"]) else "dl"
            rates.setdefault(direction, (name, _MBPS[rate["unit"]]))
    columns = _Columns(
        time,
        _SECONDS.get(match["unit"] or "", 1.0),
        rates,
        next((name for plain, name in by_plain.items() if _RSRP.fullmatch(plain)), None),
        next((name for plain, name in by_plain.items() if _SINR.fullmatch(plain)), None),
    )
    used = {time, columns.rsrp, columns.sinr, *(name for name, _ in rates.values())}
    if twice := sorted(name for name in used if name and all_names.count(name) > 1):
        raise refusal(
            f"{all_names.count(twice[0])} columns are named {twice[0]}",
            "keep the one that is to be played",
            file=file,
            line=1,
        )
    return columns


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _radio(file: Path, options: ImportOptions, columns: _Columns) -> ImportedScenario:
    wanted = [columns.rsrp, *([columns.sinr] if columns.sinr else [])]
    t_s, values = _series(file, columns, [str(name) for name in wanted])
    rsrp_dbm, sinr_db = values[0], values[1] if len(values) > 1 else None
    summary = f"RSRP of {file.name}: {rsrp_dbm.min():.0f} to {rsrp_dbm.max():.0f} dBm."
    return ImportedScenario(
        **_about(file, t_s, ", ".join(map(str, wanted))),
        summary=summary,
        **radio_series(file, options, t_s, rsrp_dbm, sinr_db),
    )


def _capacity(file: Path, options: ImportOptions, columns: _Columns) -> ImportedScenario:
    names = [name for name, _ in columns.rates.values()]
    t_s, values = _series(file, columns, names)
    csv_table.without_gaps(file, t_s, 2)  # the last rate would hold across a gap
    rates = {
        direction: of * unit
        for (direction, (_, unit)), of in zip(columns.rates.items(), values, strict=True)
    }
    for direction, mbps in rates.items():
        if (mbps < 0).any():
            name = columns.rates[direction][0]
            raise refusal(f"{name} is negative in some row", "remove these rows", file=file)
    summary = f"Measured rates of {file.name}: {rates['dl'].mean():.1f} Mbit/s on average."
    return ImportedScenario(
        **_about(file, t_s, ", ".join(names)),
        summary=summary,
        **rate_series(options, t_s, rates["dl"], rates.get("ul")),
    )


def _about(file: Path, t_s: np.ndarray, names: str) -> dict[str, Any]:
    return {
        "duration_s": covered_s(file, t_s),
        "sources": [f"Columns {names} of {file.name}."],
    }


def _series(file: Path, columns: _Columns, names: list[str]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the seconds since the first row, and the columns. Raises RefusedError."""
    kind = _kind_of_time(_first_value(file, columns.time))
    table = csv_table.read(file, {columns.time: kind, **dict.fromkeys(names, pa.float64())})
    times = table[columns.time]
    unit_s = columns.time_s
    if pa.types.is_timestamp(kind):
        times, unit_s = times.cast(pa.int64()), 1e-9
    t = csv_table.numbers(file, times, columns.time, 2)
    csv_table.rising(file, (t - t[0] if pa.types.is_timestamp(kind) else t) * unit_s, 2)
    return (t - t[0]) * unit_s, [
        csv_table.numbers(file, table[name], name, 2).astype(np.float64) for name in names
    ]


def _kind_of_time(first: str) -> pa.DataType:
    """Return the type of a column of times by its first value."""
    try:
        float(first)
    except ValueError:
        return pa.timestamp("ns", tz="UTC" if _WITH_ZONE.fullmatch(first) else None)
    return pa.float64()


def _first_value(file: Path, name: str) -> str:
    """Return what the first row has in this column; 0 for a row that is too short."""
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        names, first = (stream.readline().rstrip("\r\n").split(",") for _ in range(2))
    at = [one.strip('"') for one in names].index(name)
    return first[at].strip('" ') if at < len(first) else "0"
