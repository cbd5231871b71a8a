# SPDX-License-Identifier: Apache-2.0
"""Export of a table of a run to a file format of other programs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ddu.console.problems import RefusedError, refusal
from ddu.console.suggestions import unknown
from ddu.errors import unwritable
from ddu.run.durable import replacing
from ddu.tables.store import rounded


def write_arrow(table: pa.Table, to: BinaryIO) -> None:
    with pa.ipc.new_file(to, table.schema) as writer:
        writer.write_table(table)


def write_json(table: pa.Table, to: BinaryIO) -> None:
    """Write one object per row. Numbers keep 15 digits, instants all of theirs."""
    frame = table.to_pandas(types_mapper=_nullable)
    frame.to_json(to, orient="records", lines=True, double_precision=15)


FORMATS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    "csv": pyarrow.csv.write_csv,
    "parquet": partial(pyarrow.parquet.write_table, compression="zstd"),
    "arrow": write_arrow,
    "json": write_json,
}
"""json is one object a line (JSON Lines); arrow is Arrow's file format (Feather version 2)."""
_SUFFIXES = {".csv": "csv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow",
             ".json": "json", ".jsonl": "json"}  # fmt: skip


def format_of(file: Path | None, named: str | None) -> str:
    """Return the named format, else that of the file's suffix, else CSV.

    Raises RefusedError for an unknown one.
    """
    if file is not None and file.is_dir():
        raise refusal("is a directory", "name a file in it", file=file)
    if not named and file is not None and not file.suffix:
        raise refusal(
            "the name has no ending for the format", f"use one of {', '.join(_SUFFIXES)}", file=file
        )
    form = named or (_SUFFIXES.get(file.suffix.lower()) if file else "csv")
    if form not in FORMATS:
        raise RefusedError(unknown("format", named or (file.suffix if file else ""), FORMATS))
    return form


def chosen(
    table: pd.DataFrame, columns: Sequence[str], first_s: float | None, last_s: float | None
) -> pd.DataFrame:
    """Return some columns (none named: all), and the rows with `first_s` ≤ `t_s` < `last_s`.

    Raises RefusedError for a column that the table does not have.
    """
    missing = sorted(set(columns) - set(table))
    if missing:
        there = list(map(str, table))
        raise RefusedError(
            unknown("column", name, there, "`ddu schema` lists the columns") for name in missing
        )
    if (first_s is not None and math.isnan(first_s)) or (last_s is not None and math.isnan(last_s)):
        raise refusal("nan is not a time", "give seconds of t_s", key="--from, --until")
    if first_s is not None and last_s is not None and first_s >= last_s:
        raise refusal(f"--from {first_s:g} is not before --until {last_s:g}", "swap them")
    if first_s is not None or last_s is not None:
        if "t_s" not in table:
            raise refusal("this table has no time t_s to choose by")
        after = table["t_s"] >= (first_s if first_s is not None else float("-inf"))
        table = table[after & (table["t_s"] < (last_s if last_s is not None else float("inf")))]
    return table[list(columns)] if columns else table


def export(table: pd.DataFrame, name: str, file: Path | None, form: str) -> None:
    """Write the table to a file, whole or not at all, or to standard output (None).

    CSV has the digits of the run's own CSV files.
    """
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    if form == "csv":
        arrow = rounded(arrow, name)
    if file is None:
        FORMATS[form](arrow, sys.stdout.buffer)
        return
    try:
        with replacing(file) as to:
            FORMATS[form](arrow, to)
    except OSError as error:
        raise unwritable(file, "cannot be written", error) from None


def _nullable(kind: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
    """Keep integers that may be null as integers."""
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None
