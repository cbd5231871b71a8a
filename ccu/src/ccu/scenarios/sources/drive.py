# SPDX-License-Identifier: Apache-2.0
"""The handovers of a measured drive: a CSV with `time` (s), `active interface` (4G, NSA 5G, SA 5G)
and `handover type` (4t4, 4t5, 5t4, 5t5), as the drives of "A Variegated Look at 5G in the Wild"
(Narayanan et al., SIGCOMM 2021) have it.

A drive has two cells of each generation, which take turns. It has no levels: they are chosen, one
for each generation, without fading.
"""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ccu.scenarios.sources.imported_scenario import (
    POWER_DBM,
    ImportedScenario,
    ImportOptions,
    not_too_long,
)
from ddu.console.input_file import read_bytes
from ddu.console.problems import refusal

COLUMNS = ("time", "active interface", "handover type")
_START = "unknown"
_TYPES = ("4t4", "4t5", "5t4", "5t5")
_CELLS = {"4": (0, 1), "5": (2, 3)}
"""The numbers of the cells of each generation."""
_RSRP_DBM = {"4": -105.0, "5": -85.0}
_AFTER_S = 10.0
"""The time after the last event."""
_MOST_BYTES = 1 << 30


class _Event(NamedTuple):
    line: int
    t_s: float
    type: str
    interface: str


def read(file: Path, _: ImportOptions) -> ImportedScenario:
    """Return a scenario that hands the UE over when the drive did. Raises RefusedError."""
    events = _events(file)
    first_s = events[0].t_s
    cell = dict.fromkeys(_CELLS, 0)
    handovers = [{"t_s": 0.0, "cell": _CELLS[_generation(file, events[0])][0]}]
    for before, event in pairwise(events):
        _check(file, before, event)
        generation = event.type[2]
        if event.type[0] == generation:
            cell[generation] = 1 - cell[generation]
        number = _CELLS[generation][cell[generation]]
        handovers.append({"t_s": round(event.t_s - first_s, 6), "cell": number})
    counts = ", ".join(f"{sum(event.type == one for event in events)} {one}" for one in _TYPES)
    cells = [
        {"level": {"rsrp_dbm": _RSRP_DBM[generation]}}
        for generation, numbers in _CELLS.items()
        for _ in numbers
    ]
    return ImportedScenario(
        duration_s=not_too_long(file, events[-1].t_s - first_s + _AFTER_S),
        summary=f"The handovers of a drive, {file.name}: {counts}.",
        sources=[
            f"{file.name}: times and types of handovers. Cells of one generation take turns.",
            f"RSRP: chosen, {_RSRP_DBM['4']:g} dBm over 4G and {_RSRP_DBM['5']:g} dBm over 5G. All "
            "cells have the link's carrier: 4G has the capacity of a weaker signal.",
        ],
        body={
            "radio": {
                "ss_pbch_block_power_dbm": POWER_DBM,
                "level": {"rsrp_dbm": _RSRP_DBM["5"]},
                "noise": {"figure_db": 7.0},
                "cells": cells,
                "handovers": handovers,
            }
        },
    )


def _events(file: Path) -> list[_Event]:
    try:
        text = read_bytes(file, _MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise refusal(error.strerror or str(error), file=file) from None
    except UnicodeDecodeError:
        raise refusal("is not text", "give the CSV of a drive", file=file) from None
    table = csv.DictReader(io.StringIO(text))
    try:
        return _events_of(file, table)
    except csv.Error as error:
        fix = "give the CSV of a drive"
        raise refusal(f"not valid CSV: {error}", fix, file=file, line=table.line_num) from None


def _events_of(file: Path, table: csv.DictReader[str]) -> list[_Event]:
    if missing := [name for name in COLUMNS if name not in (table.fieldnames or ())]:
        columns = ", ".join(COLUMNS)
        raise refusal(
            f"there is no column {missing[0]!r}", f"give a CSV with {columns}", file=file, line=1
        )
    events = []
    for row in table:
        line = table.line_num
        try:
            t_s = float(row["time"])
        except (TypeError, ValueError):
            rule = f"the time {row['time']!r} is not a number"
            raise refusal(rule, "write seconds", file=file, line=line) from None
        kind = row["handover type"] or ""
        if kind not in (_START, *_TYPES):
            known = ", ".join(_TYPES)
            rule = f"{kind!r} is not a type of handover"
            raise refusal(rule, f"write one of {known}", file=file, line=line)
        events.append(_Event(line, t_s, kind, row["active interface"] or ""))
    if not events:
        raise refusal("has no events", "give the CSV of a drive", file=file)
    return events


def _check(file: Path, before: _Event, event: _Event) -> None:
    if event.t_s <= before.t_s:
        raise refusal(
            f"the event at {event.t_s:g} s comes after the one at {before.t_s:g} s",
            "sort the events by time, or remove the one that is wrong",
            file=file,
            line=event.line,
        )
    if event.type == _START:
        raise refusal(
            "only the first event may have an unknown type",
            "remove it",
            file=file,
            line=event.line,
        )
    source = _generation(file, before)
    if event.type[0] != source:
        raise refusal(
            f"the handover {event.type} begins in {event.type[0]}G, and the UE is in {source}G",
            "restore the events between them",
            file=file,
            line=event.line,
        )


def _generation(file: Path, event: _Event) -> str:
    """Return the generation in which the UE is after an event."""
    generation = event.interface.removesuffix("G")[-1:]
    if generation not in _CELLS:
        raise refusal(
            f"{event.interface!r} is not an interface",
            "write 4G, NSA 5G or SA 5G",
            file=file,
            line=event.line,
        )
    return generation
