# SPDX-License-Identifier: Apache-2.0
"""iperf3's JSON: its intervals, and the bytes that its receivers count."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.console.input_file import MOST_BYTES_OF_JSON, parsed_json, read_bytes
from ddu.errors import UnreadableInput
from ddu.readers.fields import Values
from ddu.readers.format import LogClock, SourceTable
from ddu.readers.logs import LogTable, content_of, table_of, whole_lines


def received_bytes(raw: Path, flow_id: str) -> int | None:
    """Return the payload bytes that the receiver of a flow counted; None if it did not report."""
    for role in ("server", "client"):
        file = raw / f"iperf3-{flow_id}-{role}.json"
        try:
            end = _end(file)
            counts = [end.get(key, {}).get("bytes") for key in ("sum_received", "sum")]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        for count in counts:
            if count and isinstance(count, (int, float)) and count < _MOST_BYTES:
                return int(count)
    return None


def _end(file: Path) -> Any:
    """Return what iperf3 wrote at its end, in one object or with `--json-stream` in a line."""
    content = read_bytes(file, MOST_BYTES_OF_JSON)
    try:
        return parsed_json(content)["end"]
    except ValueError:
        events = map(parsed_json, content.splitlines())
        return next((event["data"] for event in events if event["event"] == "end"), {})


_MOST_BYTES = 1e18
_FIRST = ("utc_ns", "duration_ns", "stream", "sender")
_COLUMNS = {
    "bytes": "iperf3_bytes",
    "retransmits": "iperf3_retransmissions_count",
    "snd_cwnd": "iperf3_cwnd_bytes",
    "snd_wnd": "iperf3_snd_wnd_bytes",
    "rtt": "iperf3_rtt_us",
    "rttvar": "iperf3_rttvar_us",
    "pmtu": "iperf3_pmtu_bytes",
    "bits_per_second": "iperf3_rate_bps",
    "jitter_ms": "iperf3_jitter_ms",
    "lost_packets": "iperf3_lost_count",
    "packets": "iperf3_packets_count",
}
_NAME = re.compile(r"iperf3-(.+)-(client|server)\.json")
_CLOCK = LogClock(
    "iperf3 states the second in which it began; intervals count from there", 1_000_000_000
)
_LATEST_S = 9_000_000_000
"""The nanoseconds of later times are more than columns hold."""
_PLACE = ("socket", "start", "end", "seconds", "sender", "omitted")


def read_iperf3_files(raw: Path) -> SourceTable | None:
    """Return `flow`, `end` (client, server) and the columns of `read_iperf3`; None without any
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


def read_iperf3(file: Path) -> LogTable:
    """Read iperf3's JSON, whole (`--json`) or by line (`--json-stream`): one row per interval and
    stream.

    `utc_ns` counts from the second in which the test began, as iperf3 states it: it is up to a
    second early. Raises UnreadableInput when the file is neither, or an error of iperf3's.
    """
    text = content_of(file).decode(errors="replace")
    start, intervals, truncated_at = _whole(file, text) or _by_line(file, text)
    stamp = start.get("timestamp") if isinstance(start, dict) else None
    began = stamp.get("timesecs") if isinstance(stamp, dict) else None
    if not isinstance(began, int) or not 0 <= began < _LATEST_S:
        began = None
    rows: list[Values] = []
    omitted_s = 0.0
    for interval in intervals:
        streams = interval.get("streams") if isinstance(interval, dict) else None
        for stream in streams if isinstance(streams, list) else []:
            if isinstance(stream, dict):
                # What -O omits counts from 0 too, and then iperf3 begins again at 0.
                is_omitted = stream.get("omitted") is True
                rows.append(_row(stream, began, 0.0 if is_omitted else omitted_s))
                if is_omitted:
                    rows[-1]["iperf3_omitted"] = 1.0
                    omitted_s = max(omitted_s, _number(stream.get("end")) or 0.0)
    if not rows:
        raise UnreadableInput(file, "iperf3's JSON without an interval", "did the test begin?")
    if omitted_s:
        rows = [{"iperf3_omitted": 0.0, **row} for row in rows]
    note = ("times count from a whole second",) if isinstance(began, int) else ("no time in it",)
    return LogTable(file, "iperf3", table_of(rows, _FIRST), "", truncated_at, note)


def _whole(file: Path, text: str) -> tuple[Any, list[Any], int | None] | None:
    try:
        content = parsed_json(text)
    except ValueError:
        return None
    if not isinstance(content, dict) or not isinstance(content.get("intervals"), list):
        return None
    if content.get("error") and not content["intervals"]:
        raise UnreadableInput(file, f"iperf3 ended with an error: {content['error']}")
    return content.get("start"), content["intervals"], None


def _by_line(file: Path, text: str) -> tuple[Any, list[Any], int | None]:
    start: Any = {}
    intervals: list[Any] = []
    lines, truncated_at = whole_lines(text.encode())
    for number, line in enumerate(lines.splitlines(), start=1):
        try:
            event = parsed_json(line)
            kind, data = event["event"], event.get("data")
        except (ValueError, KeyError, TypeError):
            raise UnreadableInput(file, "not iperf3's JSON", line=number) from None
        if kind == "start":
            start = data
        elif kind == "interval":
            intervals.append(data)
    return start, intervals, truncated_at


def _row(stream: dict[str, Any], began: object, after_s: float) -> Values:
    row: Values = {"stream": _number(stream.get("socket"))}
    begin, end = _number(stream.get("start")), _number(stream.get("end"))
    if begin is not None and end is not None:
        row["duration_ns"] = round((end - begin) * 1e9)
        if isinstance(began, int):
            row["utc_ns"] = began * 10**9 + round((after_s + begin) * 1e9)
    row["sender"] = float(bool(stream.get("sender")))
    for name, value in stream.items():
        if name not in _PLACE:
            row[_COLUMNS.get(name, name)] = _number(value)
    return row


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and abs(value) < _MOST_BYTES else None
