# SPDX-License-Identifier: Apache-2.0
"""Tables into the store by COPY: as CSV, which Arrow writes at the speed of C."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from ddu.store.connect import Connection

_SMALLEST_REAL, _LARGEST_REAL = 1.2e-38, 3.4e38


def copy_table(
    connection: Connection, name: str, table: pd.DataFrame, fixed: dict[str, Any]
) -> int:
    """Appends the columns that table `name` of the store has; null stays null. Returns the rows.

    `fixed` are columns with one value. A column that the store does not know stays in the run
    directory: this table's columns are the contract of the dashboards.
    """
    types = _columns(connection, name)
    kept = table[[column for column in table.columns if column in types and column not in fixed]]
    kept = kept.apply(lambda column: _as(column, types[str(column.name)]))
    for column, value in fixed.items():
        kept.insert(0, column, value)
    statement = sql.SQL("COPY testbed.{} ({}) FROM STDIN (FORMAT csv)").format(
        sql.Identifier(name), sql.SQL(", ").join(map(sql.Identifier, kept.columns))
    )
    with connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            copy.write(_csv(kept))
        return cursor.rowcount


def _columns(connection: Connection, table: str) -> dict[str, str]:
    rows = connection.execute(
        "SELECT attname, atttypid::regtype::text FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
        [f"testbed.{table}"],
    )
    return dict(rows.fetchall())


def _as(column: pd.Series[Any], kind: str) -> pd.Series[Any]:
    """As the store's type; what it cannot hold (infinity apart) does not occur in a metric."""
    if kind in ("smallint", "integer", "bigint"):
        return pd.to_numeric(column).round().astype("Int64")
    if kind == "real":
        values = pd.to_numeric(column).astype("float64")
        return values.mask(values.abs() < _SMALLEST_REAL, 0.0).clip(-_LARGEST_REAL, _LARGEST_REAL)
    if kind == "text":
        return column.astype("string").str.replace("\0", "\ufffd", regex=False)
    return column


def _csv(table: pd.DataFrame) -> bytes:
    buffer = BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    options = pyarrow.csv.WriteOptions(include_header=False)
    pyarrow.csv.write_csv(arrow, buffer, options)
    return buffer.getvalue()
