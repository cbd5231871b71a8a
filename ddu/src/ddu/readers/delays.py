# SPDX-License-Identifier: Apache-2.0
"""`delays.npy` of a run: what the link says of each packet's delay (docs/run-directory.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from ddu.console.problems import RefusedError
from ddu.errors import UnreadableInput
from ddu.schema.arrays import Columns

FILE = "delays.npy"
_ROWS_AT_ONCE = 4096
_NEEDED = {
    *("sent_utc_ns", "received_utc_ns", "entered_utc_ns", "left_utc_ns", "sent_frame"),
    *("received_frame", "ip_bytes", "seq", "ack", "sport", "dport", "ue", "direction", "protocol"),
}

_FIX = "use the version that recorded it"


@dataclass(frozen=True)
class LinkDelays:
    """The packets that left the link, in that order."""

    columns: Columns
    truncated_at: int | None
    """Byte offset of a row that the file's end cuts off, or None."""


def read_delays(raw: Path) -> LinkDelays | None:
    """Read the file in folder `raw`; None if the run has none. Raises UnreadableInput."""
    file = raw / FILE
    if not file.exists():
        return None
    try:
        with file.open("rb") as opened:
            npy.read_magic(opened)
            _, _, dtype = npy.read_array_header_1_0(opened)
            begins = opened.tell()
            rest = os.fstat(opened.fileno()).st_size - begins
            _check(file, dtype)
            columns = _columns(opened, dtype, rest // dtype.itemsize)
    except RefusedError:
        raise
    except Exception as error:  # numpy raises what Python's own parser met in the header.
        raise UnreadableInput(file, f"not an array of delays ({error})", "repeat the run") from None
    cut = None if rest % dtype.itemsize == 0 else begins + rest - rest % dtype.itemsize
    return LinkDelays(columns, cut)


def _check(file: Path, dtype: np.dtype[np.void]) -> None:
    """Raise UnreadableInput for an array without the columns that the analysis computes with."""
    if missing := _NEEDED - {*(dtype.names or ())}:
        rule = f"it has no {', '.join(sorted(missing))}"
        raise UnreadableInput(file, rule, _FIX)
    for name in (*sorted(_NEEDED), *parts_of(dtype.names or ())):
        if not _is_as_written(name, dtype[name]):
            raise UnreadableInput(file, f"its column {name} is of type {dtype[name]}", _FIX)


def _is_as_written(name: str, of: np.dtype[np.generic]) -> bool:
    """Return whether a column has integers; those of instants and of parts have 64 bits."""
    if name.endswith("_utc_ns"):
        return of == np.int64
    return of.kind in "iu" and (name in _NEEDED or of.itemsize == np.dtype(np.int64).itemsize)


def _columns(file: BinaryIO, dtype: np.dtype[np.void], count: int) -> Columns:
    """Read `count` rows, some at a time, so that each column's values are still in the cache."""
    columns = {name: np.empty(count, dtype[name]) for name in dtype.names or ()}
    for start in range(0, count, _ROWS_AT_ONCE):
        rows = np.fromfile(file, dtype, count=min(_ROWS_AT_ONCE, count - start))
        for name, column in columns.items():
            column[start : start + len(rows)] = rows[name]
    return columns


def parts_of(columns: Iterable[str]) -> list[str]:
    """Return those of the columns that are parts of a delay, in the link's order."""
    return [name for name in columns if name.startswith("delay_") and name.endswith("_ns")]
