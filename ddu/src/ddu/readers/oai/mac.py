# SPDX-License-Identifier: Apache-2.0
"""OAI's MAC block, from the gNB's stdout or from readings of nrMAC_stats.log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values, add_extra, take, tidy
from ddu.readers.format import ARRIVAL, READING, Format, by_line
from ddu.readers.logs import Line, LogTable, content_of, table_of, whole_lines
from ddu.readers.oai.mac_fields import (
    CELL,
    CONTINUED,
    HEADER,
    HEADER_FIELDS,
    UE_LINE,
    dialect_of,
    fields_of,
)
from ddu.readers.oai.reports import Report, reports_of

READINGS = "oai-mac-readings"
"""The format of repeated readings of nrMAC_stats.log."""
FIRST = ("utc_ns", "uptime_ns", "radio_ns", "report", "cell", "ue", "mac_rnti", "mac_in_sync")
"""Columns that every table of this reader has, in this order; `ue` counts from 0."""


def read_mac_log(file: Path) -> LogTable:
    """One row per report and UE.

    Raises UnreadableInput when the file cannot be read or holds no MAC block.
    """
    text, truncated_at = whole_lines(content_of(file))
    reader = _Reader()
    for index, report in enumerate(reports_of(text)):
        reader.read(index, report)
    if not reader.rows:
        raise UnreadableInput(
            file,
            "no OAI MAC block in it (a line `UE RNTI …`)",
            "is it a gNB's stdout or nrMAC_stats.log, and did a UE attach?",
        )
    return LogTable(
        file,
        READINGS if reader.readings else "oai-gnb-stdout",
        table_of(reader.rows, FIRST),
        dialect_of(text),
        truncated_at,
        tuple(reader.notes()),
    )


class _Reader:
    def __init__(self) -> None:
        self.rows: list[Values] = []
        self.readings = 0
        self._empty = 0
        self._stale = 0
        self._indices = UeIndices()

    def read(self, index: int, report: Report) -> None:
        self.readings += report.is_reading
        if report.is_reading and not any(line.text.strip() for line in report.lines):
            self._empty += 1
            return
        for rows in self._blocks(report):
            held = self._indices.of([str(row["mac_rnti"]) for row in rows])
            for row, ue in zip(rows, held, strict=True):
                row = row | report.times | {"report": index, "ue": ue}
                row["mac_rnti"] = int(str(row["mac_rnti"]), 16)
                self.rows.append(row)

    def _blocks(self, report: Report) -> Iterator[list[Values]]:
        """The report's rows, by UE. Where stdout without `Frame.Slot` lines repeats a UE, a new
        block begins. Where a reading repeats anything, the rest is of an older, longer report."""
        block = _Block(report.is_reading)
        for line in report.lines:
            if not line.text.strip():
                continue
            if block.take(line):
                continue
            if report.is_reading:
                self._stale += 1
                break
            if HEADER.match(line.text) or UE_LINE.match(line.text):
                yield block.rows()
                block = _Block(report.is_reading)
                block.take(line)
        yield block.rows()

    def notes(self) -> Iterator[str]:
        if self._empty:
            yield f"{self._empty} of {self.readings} readings found the file empty"
        if self._stale:
            yield f"{self._stale} of {self.readings} readings end with the rest of an older report"


class _Block:
    """The lines of one report, gathered by UE.

    A log that begins within a report, or is pasted in part, may lack the header of a UE. In a
    reading a line without a header is what an older report left in the file.
    """

    def __init__(self, needs_header: bool) -> None:
        self._needs_header = needs_header
        self._of_ue: dict[str, Values] = {}
        self._cell: int | None = None
        self._last: tuple[str, str] | None = None

    def rows(self) -> list[Values]:
        return list(self._of_ue.values())

    def take(self, line: Line) -> bool:
        """Take a line in; False if it does not belong to this report (see _Reader._blocks)."""
        text = line.text
        if match := CELL.match(text):
            self._cell = int(match[1])
        elif match := HEADER.match(text):
            return self._begin(match[1].lower(), match[2], line)
        elif match := UE_LINE.match(text):
            rnti, rest = match[1].lower(), match[2]
            if (
                rnti not in self._of_ue
                and not self._needs_header
                and take(rest, fields_of(rest))[0]
            ):
                self._begin(rnti, "", line)
            return self._add(rnti, rest)
        elif CONTINUED.match(text) and self._last:
            rnti, before = self._last
            return self._add(rnti, f" ulsch_rounds {text}", before)
        else:
            return False
        return True

    def _begin(self, rnti: str, rest: str, line: Line) -> bool:
        if rnti in self._of_ue:
            return False
        values, extra = take(rest, HEADER_FIELDS)
        row: Values = {"mac_rnti": rnti, **values, **line.times}
        if self._cell is not None:
            row["cell"] = self._cell
        self._of_ue[rnti] = row
        self._keep(rnti, extra)
        return True

    def _add(self, rnti: str, rest: str, before: str = "") -> bool:
        row = self._of_ue.get(rnti)
        if row is None:
            return False
        values, extra = take(rest, fields_of(rest))
        if any(name in row for name in values):
            return False
        row.update(values)
        self._last = (rnti, rest) if "ulsch_rounds" in rest and not before else None
        self._keep(rnti, tidy(extra.replace("ulsch_rounds", "")) if before else extra)
        return True

    def _keep(self, rnti: str, extra: str) -> None:
        if extra not in ("dB", "UE"):
            add_extra(self._of_ue[rnti], extra)


class UeIndices:
    """The numbers of UEs, from 0. A UE that attaches again has another RNTI: it takes the number of
    one that is gone, so that a UE keeps its number over a lost link."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def of(self, rntis: list[str]) -> list[int]:
        """Return the numbers of the UEs that one report names."""
        for rnti in rntis:
            if rnti not in self._held:
                taken = {self._held[other] for other in rntis if other in self._held}
                index = next(index for index in range(len(rntis) + 1) if index not in taken)
                self._held = {old: at for old, at in self._held.items() if at != index}
                self._held[rnti] = index
        return [self._held[rnti] for rnti in rntis]


_SIGN = r"\bUE (?:RNTI [0-9a-fA-F]{4}\b|[0-9a-fA-F]{4}: *(?:[du]lsch_|MAC:|LCID |CQI |UL-RI ))"
FORMATS = (
    Format(
        "oai-gnb-stdout", by_line(_SIGN), read_mac_log, ARRIVAL, "mac", source="oai",
        counts_per_report=True,
    ),
    Format(READINGS, by_line(_SIGN), read_mac_log, READING, "mac", source="oai"),
)  # fmt: skip
