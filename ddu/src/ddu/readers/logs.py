# SPDX-License-Identifier: Apache-2.0
"""The common parts of the readers of text logs: lines without their prefixes, and one result.

Programs, containers and collectors put a time, a colour or a name before a line. They are removed
here, and a time among them is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from ddu.console.colours import uncoloured
from ddu.console.input_file import read_bytes
from ddu.errors import UnreadableInput
from ddu.readers.pasted import undressed
from ddu.readers.timestamps import stamp

_CONTAINER = re.compile(r"^[\w.-]+ +\| ")
_ISO_TIME = re.compile(
    r"^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)\]? ?"
)
_JOURNAL = re.compile(r"^[\w.-]+ [\w@./-]+\[\d+\]: ")
"""Host and program of a line of systemd's journal, after its time."""
_JOURNAL_DATE = re.compile(
    r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{6})? (?=[\w.-]+ [\w@./-]+\[\d+\]: )"
)
"""Its time as `journalctl` prints it by default, without year and zone: not an instant."""
_SECONDS = re.compile(r"^(\d{1,10})\.(\d{6}|\d{9}) ")
_EPOCH_S = 1_000_000_000
"""Seconds above are since 1970, seconds below since the machine started: 31 years of it."""


@dataclass(frozen=True)
class Line:
    """A line without prefixes. Times are null (None) where the line has none."""

    number: int
    """The number of the line, from 1."""
    text: str
    utc_ns: int | None = None
    uptime_ns: int | None = None
    """CLOCK_MONOTONIC of the machine that wrote it."""

    @property
    def times(self) -> dict[str, int]:
        """The known times, by the name of their column."""
        return known_times(utc_ns=self.utc_ns, uptime_ns=self.uptime_ns)


def known_times(**times: int | None) -> dict[str, int]:
    """Return the times that are known."""
    return {name: at for name, at in times.items() if at is not None}


@dataclass(frozen=True)
class LogTable:
    """The content of a log: one row per report (and UE), one column per field, null where missing.

    Columns `utc_ns`, `uptime_ns` and `radio_ns` are the times that the log itself gives: UTC,
    CLOCK_MONOTONIC, and radio time since the log's first frame. Any of them may be all null.
    `extra` holds, as text, what a newer or changed program prints and this version has no column
    for: nothing that stands in a report is dropped.
    """

    file: Path
    kind: str
    table: pd.DataFrame
    dialect: str = ""
    """The version whose format it is, by its features."""
    truncated_at: int | None = None
    """Byte where a last line begins that the file's end cuts off; it was not read."""
    notes: tuple[str, ...] = field(default=())
    """Lines that were skipped: empty readings, the remains of older reports."""

    def with_columns(self, **columns: pd.Series | float) -> LogTable:
        """The same log with columns added or replaced."""
        return replace(self, table=self.table.assign(**columns))


_MOST_BYTES = 4 << 30


def content_of(file: Path, if_missing: str = "No such file or directory") -> bytes:
    """Return the bytes of a source. Raises UnreadableInput when there are none."""
    try:
        content = read_bytes(file, _MOST_BYTES)
    except FileNotFoundError:
        raise UnreadableInput(file, if_missing) from None
    except OSError as error:
        raise UnreadableInput(file, error.strerror or str(error)) from None
    if not content:
        raise UnreadableInput(file, "empty")
    return content


def whole_lines(content: bytes) -> tuple[str, int | None]:
    """Return the text up to its last newline, without what surrounds a pasted log, and where an
    unfinished line begins, or None.

    The number at a cut may be short of digits: what is unfinished is not read.
    """
    end = content.rfind(b"\n") + 1
    return undressed(content[:end]).decode(errors="replace"), end if end < len(content) else None


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines of a log without prefixes, whose time is kept."""
    for number, raw in enumerate(text.split("\n"), start=1):
        yield line_of(number, raw)


def line_of(number: int, raw: str) -> Line:
    """Return one line; see Line."""
    text = uncoloured(raw.rstrip("\r"))
    text = _CONTAINER.sub("", text)
    utc_ns = uptime_ns = None
    if match := _ISO_TIME.match(text):
        at = stamp(f"{match[1]}T{match[2]}.{match[3] or 0}{match[4]}")
        utc_ns = at.utc_ns if at else None
    else:
        match = _JOURNAL_DATE.match(text)
    if match:
        text = _JOURNAL.sub("", text[match.end() :])
    if match := _SECONDS.match(text):
        seconds = int(match[1])
        value = seconds * 1_000_000_000 + int(match[2].ljust(9, "0"))
        if seconds < _EPOCH_S:
            uptime_ns = value
        elif utc_ns is None:
            utc_ns = value
        text = text[match.end() :]
    return Line(number, text, utc_ns, uptime_ns)


def table_of(rows: list[dict[str, object]], first: tuple[str, ...]) -> pd.DataFrame:
    """Make a table of rows: `first` columns in front, instants as Int64, numbers as float64."""
    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    return pd.DataFrame({name: _column(name, [row.get(name) for row in rows]) for name in names})


def _column(name: str, values: list[object]) -> pd.Series:
    """Instants never pass through float64, which would round them."""
    if name.endswith("_ns"):
        return pd.Series([value if _is_instant(value) else None for value in values], dtype="Int64")
    if any(isinstance(value, str) for value in values):
        return pd.Series(values, dtype="object")
    return pd.Series(
        [None if value is None else float(str(value)) for value in values], dtype="float64"
    )


def _is_instant(value: object) -> bool:
    """Whether 64 bits hold the instant: they reach to the year 2262."""
    return isinstance(value, int) and abs(value) < 2**63
