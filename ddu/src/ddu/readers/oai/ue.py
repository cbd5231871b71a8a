# SPDX-License-Identifier: Apache-2.0
"""nrUE's stdout: HARQ statistics, measurements, and the events of attaching.

Source: the format strings of OAI's nr-uesoftmodem, 2023 to 2026.
"""

from __future__ import annotations

import re
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import Field, Values, add_extra, field, rounds, take, tidy
from ddu.readers.format import ARRIVAL, Format, by_line
from ddu.readers.logs import Line, LogTable, content_of, lines_of, table_of, whole_lines
from ddu.readers.oai.reports import COMPONENT, RadioTime

FIRST = ("utc_ns", "uptime_ns", "radio_ns", "ue", "mac_rnti", "event")

_STATS = re.compile(
    r"UE (\d+)(?: RNTI ([0-9a-fA-F]{4}))? stats sfn: (\d+)\.(\d+), cumulated bad DCI (\d+)"
)
_OLD_ROUNDS = re.compile(r"Harq round stats for Downlink: (\d+(?:/\d+)*)")
_BELOW_STATS = re.compile(r"^\s+(DL|UL|Ul) harq: (\d+(?:/\d+)*)(.*)$")
_TRANSPORT_BLOCKS = (
    field(r"avg code rate ([\d.]+)", "mac_{direction}_code_rate_ratio"),
    field(r"avg bit/symbol ([\d.]+)", "mac_{direction}_bits_per_symbol"),
    field(r"nb RBs ([\d.]+)", "mac_{direction}_mean_prb"),
    field(r"nb symbols ([\d.]+)", "mac_{direction}_mean_symbols"),
)
_MEASURED = (
    field(r"\bRSRP = (-?\d+(?:\.\d+)?) dBm", "mac_rsrp_dbm"),
    field(r"\bSINR = (-?\d+(?:\.-?\d+)?) dB", "mac_sinr_db"),
    field(r"\bCQI = (\d+)", "mac_cqi"),
)
_EVENTS: tuple[tuple[str, Field], ...] = (
    ("synchronised", field(r"Initial sync successful, PCI: (\d+)", "pci")),
    ("synchronisation failed", field(r"synch Failed:")),
    (
        "session established",
        Field(
            re.compile(r"Received PDU Session Establishment Accept, UE IPv4: ([\d.]+)"),
            lambda match: {"address": match[1]},
        ),
    ),
)


def read_ue_log(file: Path) -> LogTable:
    """Return one row per report of statistics, measurement or event (`event` names it).

    Raises UnreadableInput when the file cannot be read or holds none of them.
    """
    text, truncated_at = whole_lines(content_of(file))
    rows: list[Values] = []
    radio = RadioTime()
    for line in lines_of(text):
        if match := _BELOW_STATS.match(line.text):
            if rows and rows[-1].get("event") == "statistics":
                _add_harq(rows[-1], match)
        elif row := _row(line, radio):
            rows.append(row)
    if not rows:
        raise UnreadableInput(
            file, "no statistics of an OAI UE in it", "is it an nr-uesoftmodem's stdout?"
        )
    return LogTable(file, "oai-ue-stdout", table_of(rows, FIRST), "", truncated_at)


def _row(line: Line, radio: RadioTime) -> Values | None:
    values = _statistics(line, radio) or _event(line.text) or _measurement(line.text)
    if values is None:
        return None
    return values | line.times


def _statistics(line: Line, radio: RadioTime) -> Values | None:
    if match := _STATS.search(line.text):
        wall_ns = line.uptime_ns if line.uptime_ns is not None else line.utc_ns
        row: Values = {
            "event": "statistics",
            "ue": int(match[1]),
            "radio_ns": radio.at(int(match[3]), int(match[4]), wall_ns),
            "mac_bad_dci_count": int(match[5]),
        }
        row |= {"mac_rnti": int(match[2], 16)} if match[2] else {}
        rest = tidy(line.text[match.end() :])
        return row | ({"extra": rest} if rest else {})
    if match := _OLD_ROUNDS.search(line.text):
        return {"event": "statistics"} | rounds("dl", match[1])
    return None


def _event(text: str) -> Values | None:
    for name, each in _EVENTS:
        match = each.pattern.search(text)
        if match:
            return {"event": name} | each.columns(match)
    return None


def _measurement(text: str) -> Values | None:
    values, extra = take(COMPONENT.sub("", text), _MEASURED)
    if not values:
        return None
    return {"event": "measurement"} | values | ({"extra": extra} if extra else {})


def _add_harq(row: Values, match: re.Match[str]) -> None:
    direction = match[1].lower()
    values, extra = take(match[3].replace("avg per TB:", ""), _TRANSPORT_BLOCKS)
    row |= rounds(direction, match[2])
    row |= {name.format(direction=direction): value for name, value in values.items()}
    add_extra(row, extra)


FORMATS = (
    Format(
        "oai-ue-stdout",
        by_line(
            r"\bUE \d+(?: RNTI \w{4})? stats sfn: |Harq round stats for Downlink: |"
            r"Initial sync successful|synch Failed:|PDU Session Establishment Accept|"
            r"\b(?:RSRP|SINR|CQI) = -?\d"
        ),
        read_ue_log, ARRIVAL, "table", table="oai_ue", file="oai/ue{}-stdout.log",
    ),
)  # fmt: skip
