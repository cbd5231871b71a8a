# SPDX-License-Identifier: Apache-2.0
"""The CSV files of raw/: samples of MAC and link, and a congestion control's own trace."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.logs import content_of
from ddu.schema.arrays import Float

_LONG_EXPONENTS = tuple(
    re.compile(rb"%b(?<=[0-9.]%b)[+-]?[0-9]{10}" % (e, e)) for e in (b"e", b"E")
)
"""Exponents that overflow 32 bits: pandas 2.3 ends the process at one (pandas' issue 63089). Two
patterns that begin with a letter are searched for eight times as fast as one."""


def parsed_csv(content: bytes, **options: Any) -> pd.DataFrame:
    """Return the table of a CSV file's content; `options` are those of pandas.read_csv.

    Raises ValueError if it is not CSV, and OverflowError for a number that its type cannot hold.
    """
    unquoted = content.replace(b'"', b"")
    if number := next(filter(None, (one.search(unquoted) for one in _LONG_EXPONENTS)), None):
        raise ValueError(f"the exponent {number[0].decode()}… is too long")
    table: pd.DataFrame = pd.read_csv(BytesIO(content), **options)
    return table


def read_samples(
    file: Path, required: tuple[str, ...] = ("utc_ns",), *, numeric: bool = False
) -> pd.DataFrame:
    """Read the rows of a file in order of time; an empty field is null. With `numeric` every
    column has to be one of numbers.

    A last line that the file's end cuts off is left out; `DataFrame.attrs["truncated_at"]` is then
    the byte where it begins, else None. Raises UnreadableInput, naming file and place.
    """
    content = content_of(file, if_missing="missing, though run.json names it")
    whole = content.rfind(b"\n") + 1
    try:
        table = parsed_csv(content[:whole], dtype_backend="numpy_nullable")
    except ValueError as error:
        raise UnreadableInput(file, f"not valid CSV: {error}") from None
    missing = [name for name in required if name not in table]
    if missing:
        raise UnreadableInput(file, f"no column {', '.join(missing)}", line=1)
    columns = {name: _numbers(column) for name, column in table.items()}
    words = [name for name, of in columns.items() if not pd.api.types.is_numeric_dtype(of)]
    if numeric and words:
        raise UnreadableInput(file, f"not valid numbers in column {words[0]}")
    try:
        for name in required:
            if name.endswith("_ns"):
                columns[name] = table[name].astype("int64")
    except (ValueError, TypeError, OverflowError) as error:
        raise UnreadableInput(file, f"not valid numbers: {error}") from None
    samples = pd.DataFrame(columns)
    samples.attrs["truncated_at"] = whole if whole < len(content) else None
    if samples["utc_ns"].is_monotonic_increasing:  # As most are: to sort copies all columns.
        samples.index = pd.RangeIndex(len(samples))
        return samples
    return samples.sort_values("utc_ns", kind="stable", ignore_index=True)


def _numbers(column: pd.Series[Any]) -> Float | pd.Series[Any]:
    """Return a column of numbers with NaN for null; times, which have more digits, as they are."""
    if str(column.name).endswith("_ns") or not pd.api.types.is_numeric_dtype(column):
        return column
    numbers: Float = column.to_numpy(dtype="float64")
    return numbers
