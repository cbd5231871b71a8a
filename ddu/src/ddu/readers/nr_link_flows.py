# SPDX-License-Identifier: Apache-2.0
"""The account of nr-link's traffic program in virtual time (raw/flows.json): its intervals, and the
bytes that its receivers read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ddu.console.input_file import read_json
from ddu.errors import UnreadableInput
from ddu.readers.fields import Values
from ddu.readers.format import LogClock, SourceTable
from ddu.readers.logs import table_of

FILE = "flows.json"
_SCHEMA = "nr-link-flows/1"
_FIRST = ("utc_ns", "flow", "end", "duration_ns", "stream", "sender")
_SECOND_NS = 1_000_000_000
# As iperf3, which states the second of its start only: the same table in the same way.
_CLOCK = LogClock("intervals count from the second in which the connection was made", _SECOND_NS)
_TCP = {
    "retransmissions": "iperf3_retransmissions_count",
    "cwnd_bytes": "iperf3_cwnd_bytes",
    "send_window_bytes": "iperf3_snd_wnd_bytes",
    "rtt_us": "iperf3_rtt_us",
    "rtt_variation_us": "iperf3_rttvar_us",
    "path_mtu_bytes": "iperf3_pmtu_bytes",
}


def received_bytes(raw: Path, flow_id: str) -> int | None:
    """Return the payload bytes that the receiver of a flow read; None if it is unknown or 0."""
    with _as_written(raw):
        counts = {flow["id"]: int(flow["received_bytes"]) for flow in _flows(raw)}
    return counts.get(flow_id) or None


def read_nr_link_flows(raw: Path) -> SourceTable | None:
    """Return the table that `read_iperf3_files` makes of iperf3's reports; None without an
    account."""
    with _as_written(raw):
        flows = sorted(_flows(raw), key=lambda flow: str(flow["id"]))
        rows: list[Values] = [row for flow in flows for row in _rows(flow)]
        table = table_of(rows, _FIRST) if rows else None
    if table is None:
        return None
    alignment = _CLOCK.as_dict() | {"format": _SCHEMA, "file": FILE, "notes": []}
    return SourceTable(table, alignment)


@contextmanager
def _as_written(raw: Path) -> Iterator[None]:
    """Raise UnreadableInput for an account that is not as nr-link writes it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        fix = "move it away to analyse the run without"
        rule = f"not an account of flows ({type(error).__name__}: {error})"
        raise UnreadableInput(raw / FILE, rule, fix) from None


def _flows(raw: Path) -> list[dict[str, Any]]:
    try:
        content = read_json(raw / FILE)
    except (OSError, ValueError):
        return []
    known = isinstance(content, dict) and content.get("schema") == _SCHEMA
    return [flow for flow in content["flows"] if flow] if known else []


def _rows(flow: dict[str, Any]) -> Iterator[Values]:
    began_ns = flow["start_utc_ns"] // _SECOND_NS * _SECOND_NS
    for end, intervals, sends in (("client", "sender", True), ("server", "receiver", False)):
        for one in flow[intervals]:
            lasts_s = one["end_s"] - one["start_s"]
            yield {
                "utc_ns": began_ns + round(one["start_s"] * 1e9),
                "flow": flow["id"],
                "end": end,
                "duration_ns": round(lasts_s * 1e9),
                "stream": 1.0,
                "sender": float(sends),
                "iperf3_bytes": float(one["bytes"]),
                "iperf3_rate_bps": one["bytes"] * 8 / lasts_s if lasts_s else 0.0,
                **{_TCP[key]: value for key, value in (one["tcp"] or {}).items()},
                **_of_datagrams(one["datagrams"], sends),
            }


def _of_datagrams(seen: dict[str, Any] | None, sends: bool) -> Values:
    if seen is None:
        return {}
    if sends:
        return {"iperf3_packets_count": seen["received"]}  # Of a sender: those sent.
    packets = seen["received"] + seen["lost"]
    return {
        "iperf3_jitter_ms": seen["jitter_ms"],
        "iperf3_lost_count": seen["lost"],
        "iperf3_packets_count": packets,
        "lost_percent": seen["lost"] * 100 / packets if packets else 0.0,
    }
