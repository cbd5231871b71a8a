# SPDX-License-Identifier: Apache-2.0
"""COPY of tables into the store, as CSV, which Arrow writes at the speed of C."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from ddu.store.connect import Connection
from ddu.store.metric_columns import columns_of

_SMALLEST_REAL, _LARGEST_REAL = 1.2e-38, 3.4e38


def copy_table(
    connection: Connection, name: str, table: pd.DataFrame, fixed: dict[str, Any]
) -> int:
    """Append the columns that table `name` of the store has, and return the number of rows.

    `fixed` are columns with one value. A column that the store does not have stays in the run
    directory. Null stays null.
    """
    types = columns_of(connection, name)
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


def _as(column: pd.Series[Any], kind: str) -> pd.Series[Any]:
    """Return the column as the store's type; no metric has a value that it cannot hold."""
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
