# SPDX-License-Identifier: Apache-2.0
"""Columns of all tables: those of the sources, and those that metrics declare."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ddu.align.counters import is_counter
from ddu.metrics.catalogue import Stage, bin_metrics, summary_metrics
from ddu.schema.columns import Column, source_columns

if TYPE_CHECKING:
    import pandas as pd

TABLES = {
    "aligned": (
        "time", "flow", "captures", "sockets_on_bins", "quic_on_bins", "delays", "mac", "phone",
        "link", "channel", "derived",
    ),
    "transport": ("time", "flow", "captures"),
    "mac": ("time", "mac", "phone"),
    "flows": ("flow", "flows", "per_connection", "addresses"),
    "sockets": ("time", "addresses", "sockets"),
    "cc": ("time",),
    "events": ("time", "events"),
    "radio_events": ("time", "radio_events"),
    "handovers": ("time", "radio_events", "handovers"),
    "delay_cdf": ("flow", "distribution"),
    "delays": ("time", "flow", "packet_delays"),
    "iperf3": ("time", "flow", "iperf3"),
    "quic": ("time", "flow", "quic"),
    "channel": ("time", "channel_ue", "channel", "channel_paths"),
    "oai_l1": ("time", "log", "l1"),
    "oai_rrc": ("time", "log", "rrc"),
    "oai_ue": ("time", "log", "ue_log", "mac"),
    "oai_o1": ("time", "log", "o1"),
    "mac_pdus": ("time", "mac_pdus"),
}  # fmt: skip
"""The parts of columns.yaml, and the kinds of metrics, that each table consists of."""

_STAGES: dict[str, Stage] = {
    "captures": "captures", "sockets_on_bins": "sockets", "quic_on_bins": "quic",
    "derived": "derived",
}  # fmt: skip
"""Parts that metrics declare, and the stage in which these are computed."""
_KERNEL = "as the kernel reports it, by the name in struct tcp_info or inet_diag with a unit"
_OF_CC = "as the congestion control reports it (docs/run-directory.md)"
_IN_A_BIN = "; in a bin: interpolated, by the overlap of the intervals with it"


@cache
def columns_of(table: str) -> tuple[Column, ...]:
    """Return the columns that a table may have. Raises KeyError for an unknown table."""
    columns = [column for part in TABLES[table] for column in _part(part)]
    if table == "aligned":
        columns = [_on_bins(column) for column in columns]
    return tuple(columns)


@cache
def column(name: str, table: str = "aligned") -> Column | None:
    """Return the column of this name; None if no definition is known."""
    plain, patterns = _by_name(table)
    if name in plain:
        return plain[name]
    for pattern, known in patterns:
        if match := pattern.fullmatch(name):
            return replace(known, name=name, definition=_filled(known.definition, match))
    if table == "sockets":
        return Column(name, _KERNEL)
    if name.startswith("cc_") or table == "cc":
        return Column(name, _OF_CC)
    return None


def written_names() -> list[str]:
    """Return the names of the aligned table's columns with both directions written out."""
    names = (each.name for each in columns_of("aligned"))
    directions = ("dl", "ul")
    return list(dict.fromkeys(n.replace("{direction}", d) for n in names for d in directions))


def described(table: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Return name, type, unit, definition and number of null values of each column of a table."""
    rows = []
    for each in map(str, table.columns):
        known = column(each, name) or Column(each, "")
        rows.append(
            {
                "name": each,
                "type": str(table[each].dtype),
                "unit": known.units.name,
                "definition": known.definition,
                "null_count": int(table[each].isna().sum()),
            }
        )
    return rows


def _part(name: str) -> tuple[Column, ...]:
    if name in _STAGES:
        return bin_metrics(_STAGES[name])
    if name == "per_connection":
        return tuple(metric for metric in summary_metrics() if metric.of_table)
    return source_columns(name)


def _on_bins(column: Column) -> Column:
    if is_counter(column.name) and column.name.startswith("mac_"):
        return replace(column, definition=column.definition + _IN_A_BIN)
    return column


@cache
def _by_name(table: str) -> tuple[dict[str, Column], list[tuple[re.Pattern[str], Column]]]:
    plain: dict[str, Column] = {}
    patterns = []
    for each in columns_of(table):
        if "{" in each.name:
            direction = re.escape(each.name).replace(r"\{direction\}", "(?P<direction>dl|ul)")
            patterns.append((re.compile(direction.replace(r"\{n\}", r"(?P<n>\d+)")), each))
        else:
            plain.setdefault(each.name, each)
    return plain, patterns


def _filled(definition: str, match: re.Match[str]) -> str:
    for key, value in match.groupdict().items():
        definition = definition.replace(f"{{{key}}}", value)
    return definition
