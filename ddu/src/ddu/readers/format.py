# SPDX-License-Identifier: Apache-2.0
"""The declaration of a log format: how it is recognised, read, on which clock, how certain.

A format is one file that declares one or more `Format`s in a tuple `FORMATS`, named in
ddu.readers.formats, or, from another package, in the entry point group `ddu.formats`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ddu.readers.logs import LogTable

Recogniser = Callable[[Path, bytes], bool]
"""Whether a file with this content has the format."""


@dataclass(frozen=True)
class LogClock:
    """The clock of the times in a log's column `utc_ns`; what lacks them is anchored instead."""

    method: str
    """The origin of the times, as summary.json states it."""
    uncertainty_ns: int
    host: str | None = None
    """The host whose clock they are; None: UTC."""
    source: str = "UTC"

    def as_dict(self) -> dict[str, Any]:
        """The form of summary.json and of a table's metadata."""
        return {
            "source": self.source, "method": self.method, "uncertainty_ns": self.uncertainty_ns,
        }  # fmt: skip


ARRIVAL = LogClock("times that stand in the log", 100_000_000)
"""A line may wait in a pipe before it is stamped."""
READING = LogClock(
    "times of reading the statistics file, which the gNB rewrites about once a second",
    1_000_000_000,
)


@dataclass(frozen=True)
class Format:
    """A log format."""

    name: str
    """The name that `LogTable.kind`, summary.json and `ddu describe` have."""
    recognise: Recogniser
    read: Callable[[Path], LogTable]
    """Read a file. Raises UnreadableInput when it cannot be read or holds no report."""
    clock: LogClock
    holds: Literal["mac", "sockets", "table"]
    """Reports of the MAC (or the phone's modem), samples of sockets, or a table of its own."""
    source: str = ""
    """The name of a MAC or socket source in run.json."""
    table: str = ""
    """The name of the table, where it is one of its own."""
    file: str = ""
    """The file of such a log under raw/; `{}` is the number of a UE. Empty: read otherwise."""
    counts_per_report: bool = False
    """Whether counts of measurements start again in each report."""
    events: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    """The changes between reports, as the table `events`."""
    warning: Callable[[pd.DataFrame], str | None] = lambda _: None
    """A sentence for the verdict's reasons."""


@dataclass(frozen=True)
class SourceTable:
    """A table in UTC (or without instants), and how its times became UTC, for summary.json."""

    table: pd.DataFrame
    alignment: Mapping[str, Any]


def by_line(pattern: str) -> Recogniser:
    """Recognise a format by any line in which the pattern is found."""
    compiled = re.compile(pattern.encode(), re.MULTILINE)
    return lambda _, content: compiled.search(content) is not None
