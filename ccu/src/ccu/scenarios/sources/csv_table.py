# SPDX-License-Identifier: Apache-2.0
"""The columns of a CSV file as arrays, read by pyarrow; errors name the line."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from ddu.console.input_file import opened as opened_file
from ddu.console.problems import RefusedError, refusal

LARGEST_BYTES = 1 << 30
# Messages of Arrow's reader of CSV.
_ROW = re.compile(r"Row #(\d+)")
_INVALID = re.compile(
    r"In CSV column #(?P<column>\d+):.* conversion error to (?P<type>\S+): invalid value "
    r"'(?P<value>.*)'"
)
_ZONE = re.compile(
    r"In CSV column #(?P<column>\d+):.* expected (?P<wanted>no|a) zone offset in '(?P<value>.*)'"
)
_FIELDS = re.compile(r"Expected (?P<expected>\d+) columns, got (?P<got>\d+): (?P<text>.*)")
_TYPE_NAMES = {"int": "an integer", "double": "a number", "timestamp": "a time of this format"}
_MISSING = ["", "NA", "N/A", "null", "-", "nan", "NaN"]


def readable_text(file: Path) -> Path:
    """Return the file if it is readable text. Raises RefusedError."""
    if b"\0" in _head(file):
        raise refusal("is not text", "give the text form of the trace", file=file)
    return file


def readable(file: Path) -> Path:
    """Return the file if it is readable, whatever its content. Raises RefusedError."""
    _head(file)
    return file


def _head(file: Path) -> bytes:
    try:
        with opened_file(file) as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(4096)
    except OSError as error:
        raise refusal(
            f"cannot be read ({error.strerror})", "give the path of a readable file", file=file
        ) from None
    if size > LARGEST_BYTES:
        raise refusal(
            f"has {size} bytes, more than {LARGEST_BYTES}",
            "cut out the part that is to be played",
            file=file,
        )
    if not head.strip():
        raise refusal("is empty", "give a file with samples", file=file)
    return head


def names(file: Path, required: Sequence[str], tool: str) -> list[str]:
    """Return the columns of the first line. Raises RefusedError if a required one is missing."""
    with readable_text(file).open(encoding="utf-8-sig", errors="replace") as stream:
        names_found = [name.strip('"') for name in stream.readline().rstrip("\r\n").split(",")]
    missing = [name for name in required if name not in names_found]
    if missing:
        raise refusal(
            f"no column {', '.join(missing)} (there are {', '.join(names_found)[:200]})",
            f"give a CSV of {tool}, with its first line",
            file=file,
            line=1,
        )
    return names_found


def read(
    file: Path,
    types: Mapping[str, pa.DataType],
    *,
    column_names: Sequence[str] | None = None,
    skip_lines: int = 0,
    stamps: Sequence[str] = (),
    text: bytes | None = None,
) -> dict[str, pa.ChunkedArray]:
    """Return the columns in `types`; with `column_names` the file has no header line.

    Missing values (empty, -, NaN) are null. `stamps`: formats of times (strptime). `text`: the
    content to read in place of the file's, with the same lines.
    Raises RefusedError at the first field that is not of its type, or a row that has too few.
    """
    convert = pc.ConvertOptions(
        column_types=dict(types),
        include_columns=list(types),
        null_values=_MISSING,
        timestamp_parsers=list(stamps),
    )

    def load(threads: bool) -> pa.Table:
        options = pc.ReadOptions(
            use_threads=threads,
            column_names=list(column_names) if column_names else None,
            skip_rows=skip_lines,
        )
        return pc.read_csv(io.BytesIO(text) if text else file, options, convert_options=convert)

    try:
        table = load(threads=True)
    except pa.ArrowInvalid:
        try:
            table = load(threads=False)  # rows are numbered only without threads
        except pa.ArrowInvalid as error:
            raise _refusal(file, str(error)) from None
    except pa.ArrowKeyError as error:  # It reads names in quotes, or that are not UTF-8, otherwise.
        fix = "write plain words in the first line"
        raise refusal(f"has other names than it seems ({error})", fix, file=file, line=1) from None
    except (UnicodeDecodeError, OSError) as error:
        raise refusal(f"cannot be read ({error})", "give a text file", file=file) from None
    if table.num_rows == 0:
        raise refusal("has no samples", "give a file with at least one", file=file)
    return {name: table[name] for name in types}


def numbers(file: Path, values: pa.ChunkedArray, what: str, first_line: int) -> np.ndarray:
    """Return the values as float64, or int64 for an integer column. Raises RefusedError with the
    line of a missing or infinite value."""
    array: np.ndarray = values.to_numpy(zero_copy_only=False)
    if array.dtype == np.int64 and not values.null_count:
        return array
    array = array.astype(np.float64, copy=False)
    if np.isfinite(array.sum()):  # faster than a test of each of millions
        return array
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise refusal(
            f"{what} is missing or not finite",
            "write a number, or remove the line",
            file=file,
            line=line_of(file, int(bad[0]), first_line),
        )
    return array


def rising(
    file: Path, t: np.ndarray, first_line: int, unit: str = "s", strictly: bool = True
) -> None:
    """Raise RefusedError at the first stamp that does not come after the one before."""
    bad = np.flatnonzero(t[1:] <= t[:-1] if strictly else t[1:] < t[:-1])
    if len(bad):
        at = int(bad[0]) + 1
        fix = "sort the lines and keep one per timestamp" if strictly else "sort the lines"
        raise refusal(
            f"timestamp {t[at]:g} {unit} comes after {t[at - 1]:g} {unit}",
            fix,
            file=file,
            line=line_of(file, at, first_line),
        )


def without_gaps(
    file: Path,
    t_s: np.ndarray,
    first_line: int,
    rows: np.ndarray | None = None,
    longest_s: float | None = None,
) -> None:
    """Raise RefusedError where a sample is missing: twice the usual distance in time, or more than
    `longest_s`. `rows` are those of the samples, if they are not all of the file."""
    steps_s = np.diff(t_s)
    # Of an even number of steps the lower one: half of two may be the gap.
    usual_s = np.quantile(steps_s, 0.5, method="lower") if len(steps_s) else 0.0
    bad = np.flatnonzero(steps_s > (1.5 * usual_s if longest_s is None else longest_s))
    if len(bad):
        at = int(bad[0])
        row = at + 1 if rows is None else int(rows[at + 1])
        raise refusal(
            f"no sample for {steps_s[at]:g} s, where they are {usual_s:g} s apart",
            "write a line for each time (rate 0 in an outage), or leave the trace out",
            file=file,
            line=line_of(file, row, first_line),
        )


def line_of(file: Path, row: int, first_line: int) -> int:
    """Return the line of a row, counted from 0; rows begin at `first_line`, blank lines are
    skipped."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if number >= first_line and line.strip():
                if row == 0:
                    return number
                row -= 1
    return first_line + row


def _refusal(file: Path, message: str) -> RefusedError:
    """Return Arrow's message as a refusal; line, column and value are in its text only."""
    row = _ROW.search(message)
    first = message.partition("\n")[0]
    zone = None
    if value := _INVALID.search(message):
        named = [name for kind, name in _TYPE_NAMES.items() if value["type"].startswith(kind)]
        wanted = named[0] if named else value["type"]
        rule = f"{value['value']!r} in column {int(value['column']) + 1} is not {wanted}"
    elif zone := _ZONE.search(message):
        has = "has no zone" if zone["wanted"] == "a" else "has a zone"
        rule = f"{zone['value']!r} in column {int(zone['column']) + 1} {has}, unlike the first time"
    elif fields := _FIELDS.search(message):
        columns = "1 column" if fields["got"] == "1" else f"{fields['got']} columns"
        rule = f"{columns} in place of {fields['expected']}: {fields['text'].strip()[:80]!r}"
    elif "straddling" in message:
        rule = "a line is too long for a table of numbers"
    else:
        rule = f"is not a table of numbers ({_ROW.sub('', first).strip(': ')})"
    fix = "write bare numbers of one unit, the same number of columns in each line"
    if zone or (value and value["type"].startswith("timestamp")):
        fix = "write each time in the form that this format has"
    return refusal(rule, fix, file=file, line=int(row[1]) if row else None)
