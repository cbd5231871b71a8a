# SPDX-License-Identifier: Apache-2.0
"""Answers of the store as the data frames that Grafana's PostgreSQL data source makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import psycopg

Frame = dict[str, Any]
"""The argument of toDataFrame of @grafana/data: `fields` with name, type and values."""

_KINDS = {
    "number": {"int2", "int4", "int8", "float4", "float8", "numeric"},
    "time": {"timestamptz", "timestamp", "date"},
    "boolean": {"bool"},
}


def frame(cursor: psycopg.Cursor[Any], form: str) -> Frame:
    """Return the rows of a query as one frame.

    `form` is the query's format, `table` or `time_series`. The latter makes a field of each value
    of the column `metric` (Grafana's "long to wide").
    """
    rows = cursor.fetchall()
    columns: list[dict[str, Any]] = [
        {
            "name": column.name,
            "type": _kind(column.type_code),
            "values": [_plain(row[index]) for row in rows],
        }
        for index, column in enumerate(cursor.description or ())
    ]
    kinds = [column["type"] for column in columns]
    is_long = form == "time_series" and sorted(kinds) == ["number", "string", "time"]
    return {"refId": "A", "fields": _wide(columns) if is_long else columns}


def _kind(type_code: int) -> str:
    name = psycopg.postgres.types[type_code].name
    return next((kind for kind, names in _KINDS.items() if name in names), "string")


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.timestamp() * 1000
        case Decimal():
            return float(value)
        case list() | dict():
            return json.dumps(value)
    return value


def _wide(columns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    by_type = {column["type"]: column for column in columns}
    instants = sorted(set(by_type["time"]["values"]))
    index_of = {instant: index for index, instant in enumerate(instants)}
    series: dict[str, list[Any]] = {}
    for instant, name, value in zip(
        *(by_type[t]["values"] for t in ("time", "string", "number")), strict=True
    ):
        series.setdefault(name, [None] * len(instants))[index_of[instant]] = value
    numbers = [
        {"name": name, "type": "number", "values": values} for name, values in series.items()
    ]
    return [by_type["time"] | {"values": instants}, *numbers]
