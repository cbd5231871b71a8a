# SPDX-License-Identifier: Apache-2.0
"""Results are written whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ddu.errors import UnreadableInput

RESULTS = ("tables", "figures", "report.html", "summary.json")
"""What `ddu analyze` writes; summary.json last, so that it stands for a whole analysis."""


@contextmanager
def results_of(run: Path) -> Iterator[Path]:
    """A temporary directory whose contents replace the run's results when the block succeeds.

    A full disk or Ctrl-C leaves the earlier results as they were. Two analyses at once do not mix:
    each has a directory of its own, and they take turns in putting it in place.
    """
    try:
        made = Path(tempfile.mkdtemp(prefix=".analysis-", dir=run))
    except OSError as error:
        raise UnreadableInput(
            run, f"results cannot be written here ({error.strerror})", "its owner, or sudo, can"
        ) from None
    try:
        yield made
        _put_in_place(made, run)
    except OSError as error:
        raise UnreadableInput(run, f"results could not be written: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_table(directory: Path, name: str, table: pd.DataFrame) -> None:
    """`name`.parquet, the truth, and `name`.csv for people; null is an empty field.

    How its times became UTC is in the Parquet file's metadata, under `ddu.alignment`.
    """
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    if "alignment" in table.attrs:
        told = {b"ddu.alignment": json.dumps(table.attrs["alignment"]).encode()}
        arrow = arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), **told})
    pyarrow.parquet.write_table(arrow, directory / f"{name}.parquet", compression="zstd")
    pyarrow.csv.write_csv(arrow, directory / f"{name}.csv")


def _put_in_place(made: Path, run: Path) -> None:
    handle = os.open(run, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for name in RESULTS:
            new, current = made / name, run / name
            # A file that is not made anew would tell of other results.
            if current.is_dir() or (current.exists() and not new.exists()):
                current.rename(made / f"{name}.old")
            if new.exists():
                new.replace(current)
    finally:
        os.close(handle)
