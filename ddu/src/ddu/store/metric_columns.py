# SPDX-License-Identifier: Apache-2.0
"""The columns of the store that other modules declare, and the values of a summary in them."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from ddu.metrics.catalogue import metrics, numbers_of_flow, numbers_of_run
from ddu.metrics.metric import BinMetric
from ddu.schema.columns import source_columns
from ddu.schema.units import stem
from ddu.store.connect import Connection


def column_name(number: str) -> str:
    """Return the column of a number of summary.json: `rtt_ms.p95` → `rtt_p95_ms`."""
    name, _, part = number.partition(".")
    bare, suffix = stem(name)
    return f"{bare}_{part}{suffix}" if part else name


def run_values(summary: dict[str, Any]) -> dict[str, float | None]:
    return {column_name(number): _value(summary, number) for number in numbers_of_run()}


def flow_values(flow: dict[str, Any]) -> dict[str, float | None]:
    return {column_name(number): _value(flow, number) for number in numbers_of_flow()}


def mac_columns() -> list[str]:
    """Return the numbers of MAC samples that columns.yaml declares, for both directions."""
    names = [column.name for column in source_columns("mac") if column.unit != "name"]
    both = [name.replace("{direction}", direction) for name in names for direction in ("dl", "ul")]
    # How many {n} there are, only a run knows.
    return [name for name in dict.fromkeys(both) if "{n}" not in name and name != "ue"]


def add_missing(connection: Connection) -> None:
    """Add the declared columns that the store does not have yet; stored runs are null there."""
    for table, columns in _declared().items():
        for name in columns.keys() - columns_of(connection, table).keys():
            connection.execute(
                sql.SQL("ALTER TABLE testbed.{} ADD COLUMN IF NOT EXISTS {} {}").format(
                    sql.Identifier(table), sql.Identifier(name), sql.SQL(columns[name])
                )
            )


def columns_of(connection: Connection, table: str) -> dict[str, str]:
    """Return the types of the columns of a table of the store."""
    rows = connection.execute(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        [f"testbed.{table}"],
    )
    return dict(rows.fetchall())


def _declared() -> dict[str, dict[str, str]]:
    on_bins = [metric for metric in metrics() if isinstance(metric, BinMetric)]
    double = "double precision"
    return {
        "transport_sample": {
            each.name: "text" if each.unit == "name" else "real" for each in on_bins
        },
        "radio_sample": dict.fromkeys(mac_columns(), "real"),
        "run": dict.fromkeys(map(column_name, numbers_of_run()), double),
        "flow": dict.fromkeys(map(column_name, numbers_of_flow()), double),
    }


def _value(content: dict[str, Any], number: str) -> float | None:
    name, _, part = number.partition(".")
    item = content.get(name)
    return (item or {}).get(part) if part else item
