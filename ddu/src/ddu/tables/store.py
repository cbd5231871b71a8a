# SPDX-License-Identifier: Apache-2.0
"""Writing results: whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from ddu.errors import unwritable
from ddu.run.durable import locked, rename_durably, sync, sync_tree, temporary_folder
from ddu.run.integrity import KEY, RAW_KEY, described, regular_files, sealed
from ddu.run.manifest import write_json
from ddu.schema.columns import Column
from ddu.tables.columns import column
from ddu.tables.results import SUMMARY

RESULTS = ("tables", "figures", "report.html")
"""The results of `ddu analyze` beside summary.json, which stands for a whole analysis."""

NOT_FOR_PEOPLE = ("delays",)
"""Tables of all packets, which are too long for CSV."""

COMPUTED = ("transport", "aligned", "delay_cdf")
"""Tables whose numbers are computed, not copied from a source."""


@contextmanager
def results_of(run: Path) -> Iterator[Path]:
    """Yield a temporary directory whose contents replace the run's results if the block succeeds.

    A full disk or Ctrl-C leaves the earlier results as they were. Two analyses at once do not mix:
    each has a directory of its own, and they take turns in putting it in place.
    """
    try:
        with temporary_folder(run, ".analysis-") as made:
            yield made
            _put_in_place(made, run)
    except OSError as error:
        raise unwritable(run, "results cannot be written here", error) from error


def write_summary(results: Path, summary: dict[str, Any], raw_sha256: str | None = None) -> None:
    """Write summary.json, with the digests of all other results, which must be there, and of the
    list of raw data that they were made of."""
    files = described(results, regular_files(results))
    made_of = {} if raw_sha256 is None else {KEY: {RAW_KEY: raw_sha256}}
    write_json(results / SUMMARY, sealed(summary | made_of, files))


def write_table(directory: Path, name: str, table: pd.DataFrame) -> None:
    """Write `name`.parquet for programs and `name`.csv for people; null is an empty field.

    Parquet keeps every digit that was computed, so that tables add up and no rounding is passed on;
    CSV keeps the digits that the metric declares, which is what was measured. The alignment of the
    table's clock is in the Parquet file's metadata, under `ddu.alignment`.
    """
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    if "alignment" in table.attrs:
        alignment = {b"ddu.alignment": json.dumps(table.attrs["alignment"]).encode()}
        arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **alignment})
    of_packets = name in NOT_FOR_PEOPLE
    pyarrow.parquet.write_table(
        arrow, directory / f"{name}.parquet", compression="zstd",
        **(_by_differences(arrow.schema) if of_packets else {}),
    )  # fmt: skip
    if not of_packets:
        pyarrow.csv.write_csv(rounded(arrow, name), directory / f"{name}.csv")


def _by_differences(schema: pa.Schema) -> dict[str, Any]:
    """Return how to write integers as the differences of rows, which are small between packets: a
    third of the bytes, and less time."""
    encoding = {}
    for field in schema:
        if pa.types.is_integer(field.type):
            encoding[field.name] = "DELTA_BINARY_PACKED"
        elif pa.types.is_floating(field.type):
            encoding[field.name] = "BYTE_STREAM_SPLIT"
    words = [name for name in schema.names if name not in encoding]
    return {"use_dictionary": words, "column_encoding": encoding}


def rounded(table: pa.Table, name: str) -> pa.Table:
    """Return a table of a run with computed columns rounded to the digits that they declare.

    Tables of sources have the digits that the source wrote.
    """
    if name not in COMPUTED:
        return table
    columns = [
        _rounded(values, column(field.name, name) or Column(field.name, ""))
        for field, values in zip(table.schema, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _rounded(values: pa.ChunkedArray, known: Column) -> pa.ChunkedArray:
    digits = known.csv_digits if pa.types.is_floating(values.type) else None
    if digits is None:
        return values
    # 0 for -0, which a difference of rates may be.
    return pc.add(pc.round(values, digits, round_mode="half_to_even"), 0.0)


def _put_in_place(made: Path, run: Path) -> None:
    """Replace the results: without summary.json, which goes first and comes last, there are none.

    So a crash at any instant leaves the results of one analysis, or a run that is not analysed.
    """
    sync_tree(made)
    with locked(run):
        _take_away(run / SUMMARY, made)
        sync(run)
        for name in RESULTS:
            # A file that was not made this time would show other results.
            _take_away(run / name, made)
            if (made / name).exists():
                (made / name).rename(run / name)
        sync(run)
        rename_durably(made / SUMMARY, run / SUMMARY)


def _take_away(path: Path, made: Path) -> None:
    if path.exists():
        path.rename(made / f"{path.name}.old")
