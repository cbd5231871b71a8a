# SPDX-License-Identifier: Apache-2.0
"""The logs of a run that become a table of their own (docs/run-directory.md): OAI's other logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.console.problems import RefusedError
from ddu.readers.format import Format, SourceTable
from ddu.readers.formats import formats_holding
from ddu.readers.logs import LogTable

_ORDER = ["utc_ns", "ue", "mac_rnti"]
_PROGRAM_LOGS = "logs"
"""The folder of what programs printed, which every run has: no format need be imported for it."""


def read_table_logs(raw: Path) -> tuple[dict[str, SourceTable], list[str]]:
    """Return the tables by name, and as faults which files are cut off or hold something else.

    Empty files are passed over: a gNB may have no O1, a core no UE.
    """
    tables, faults = {}, []
    folders = {each.name for each in raw.glob("*") if each.is_dir()} - {_PROGRAM_LOGS}
    for form in formats_holding("table") if folders else ():
        logs = []
        for file, ue in _files(raw, form.file) if form.file else ():
            try:
                log = form.read(file)
            except RefusedError as error:
                faults.append(f"Left out, it has no table: {error}")
                continue
            if log.truncated_at is not None:
                faults.append(f"{file.name} is cut off at byte {log.truncated_at}.")
            # The run's own number of the UE: each UE counts itself as 0.
            logs.append(log if ue is None else log.with_columns(ue=float(ue)))
        if logs:
            tables[form.table] = _joined(form, logs)
    return tables, faults


def _files(raw: Path, place: str) -> Iterator[tuple[Path, int | None]]:
    named = re.compile(re.escape(place).replace(r"\{\}", r"(\d+)"))
    for file in sorted((raw / place).parent.glob("*")):
        match = named.fullmatch(str(file.relative_to(raw)))
        if match and file.is_file() and file.stat().st_size:
            yield file, int(match[1]) if match.groups() else None


def _joined(form: Format, logs: list[LogTable]) -> SourceTable:
    table = pd.concat([log.table for log in logs], ignore_index=True)
    first = [column for column in _ORDER if column in table]
    alignment: dict[str, Any] = form.clock.as_dict()
    if not table["utc_ns"].notna().any():
        alignment = {
            "source": "none",
            "method": "its lines have no UTC: it is not aligned with any other source",
            "uncertainty_ns": None,
        }
    alignment |= {
        "file": ", ".join(log.file.name for log in logs),
        "format": logs[0].kind,
        "notes": [note for log in logs for note in log.notes],
    }
    return SourceTable(table[[*first, *table.columns.difference(first, sort=False)]], alignment)
