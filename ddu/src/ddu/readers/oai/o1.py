# SPDX-License-Identifier: Apache-2.0
"""Answers of the gNB's telnet command `o1 stats`, a JSON object a line with its time.

Source: OAI's openair2 O1 telnet module, 2024 to 2026, and its answers. The rates are kbit/s of data
radio bearer 1 since the question before; `load` is the share of downlink PRBs, in percent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values
from ddu.readers.format import Format, LogClock, by_line
from ddu.readers.logs import LogTable, content_of, table_of, whole_lines

FIRST = ("utc_ns", "report", "mac_rnti")
_OPERATIONAL = "O1-Operational"
_CELL_COLUMNS = {
    "frame-type": "o1_frame_type",
    "band-number": "o1_band",
    "num-ues": "o1_ue_count",
    "load": "o1_dl_load_percent",
}
_MOST_DIGITS = 400
"""Digits of a number; longer ones are not measurements, and Python refuses to read them."""


def read_o1_log(file: Path) -> LogTable:
    """One row per answer for the cell (`mac_rnti` null), one per UE.

    What has no column, the configuration too, is in `extra` of the cell, as JSON.
    Raises UnreadableInput when the file cannot be read or holds no answer.
    """
    text, truncated_at = whole_lines(content_of(file))
    rows: list[Values] = []
    passed: list[int] = []
    lines = [line for line in enumerate(text.splitlines(), start=1) if line[1].strip()]
    for index, (number, line) in enumerate(lines):
        answer = _rows(line, index)
        rows += answer
        if not answer:
            passed.append(number)
    if not rows:
        raise UnreadableInput(file, "no answer of `o1 stats` in it")
    notes = (f"no answers in lines {', '.join(map(str, passed[:10]))}",) if passed else ()
    return LogTable(file, "oai-o1-stats", table_of(rows, FIRST), "", truncated_at, notes)


def _rows(line: str, index: int) -> list[Values]:
    content = _object(line)
    answer, utc_ns = content.get("answer"), content.get("utc_ns")
    operational = answer.get(_OPERATIONAL) if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(operational, dict):
        return []
    stamp: Values = {"utc_ns": utc_ns if _is_instant(utc_ns) else None, "report": index}
    cell = stamp | {name: _scalar(operational.get(key)) for key, name in _CELL_COLUMNS.items()}
    rates = operational.get("ues-thp")
    ues = [each for each in rates if isinstance(each, dict)] if isinstance(rates, list) else []
    known = {*_CELL_COLUMNS, "ues", "ues-thp"}
    rest = {key: value for key, value in answer.items() if key != _OPERATIONAL}
    rest |= {key: value for key, value in operational.items() if key not in known}
    if rest:
        cell["extra"] = json.dumps(rest, sort_keys=True)
    return [cell, *(stamp | _of_ue(each) for each in ues)]


def _of_ue(content: dict[str, Any]) -> Values:
    row: Values = {"mac_rnti": _number(content.get("rnti"))}
    for direction in ("dl", "ul"):
        kbps = _number(content.get(direction))
        row[f"o1_{direction}_throughput_bps"] = None if kbps is None else kbps * 1e3
    rest = {key: value for key, value in content.items() if key not in ("rnti", "dl", "ul")}
    return row | ({"extra": json.dumps(rest, sort_keys=True)} if rest else {})


def _object(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line, parse_constant=lambda _: None, parse_int=_integer)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) < _MOST_DIGITS else None


def _is_instant(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 1e300 else None


def _scalar(value: object) -> object:
    return value if isinstance(value, str) else _number(value)


FORMATS = (
    Format(
        "oai-o1-stats", by_line(_OPERATIONAL), read_o1_log,
        LogClock("times of the answers", 100_000_000), "table",
        table="oai_o1", file="oai/o1-stats.jsonl",
    ),
)  # fmt: skip
