# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's other logs in raw/oai/ (docs/run-directory.md), as one table per source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.logs import LogTable
from ddu.readers.oai.o1 import read_o1_log
from ddu.readers.oai.statistics import read_l1_log, read_rrc_log
from ddu.readers.oai.ue import read_ue_log

FILES: dict[str, tuple[str, Callable[[Path], LogTable]]] = {
    "oai_l1": (r"nrL1_stats\.log", read_l1_log),
    "oai_rrc": (r"nrRRC_stats\.log", read_rrc_log),
    "oai_ue": (r"ue(\d+)-stdout\.log", read_ue_log),
    "oai_o1": (r"o1-stats\.jsonl", read_o1_log),
}
"""By the table that each becomes: the names of its files, of which one may stand for a UE."""

_METHODS = {
    "oai_l1": "times of reading the statistics file, which the gNB rewrites about once a second",
    "oai_rrc": "times of reading the statistics file, which the gNB rewrites about once a second",
    "oai_ue": "times that stand in the log",
    "oai_o1": "times of the answers",
}
_UNCERTAINTY_NS = {"oai_l1": 10**9, "oai_rrc": 10**9, "oai_ue": 10**8, "oai_o1": 10**8}
_ORDER = ["utc_ns", "ue", "mac_rnti"]


def read_oai_logs(
    folder: Path, faults: list[str], alignment: dict[str, object]
) -> dict[str, pd.DataFrame]:
    """The tables of what is in `folder`, raw/oai/; none if there is no such folder.

    A file that is cut off, or that holds something else, is told in `faults`, how the times became
    UTC in `alignment`. Empty files say nothing: a gNB may have no O1, a core no UE.
    """
    tables = {}
    for name, (pattern, read) in FILES.items():
        logs = list(_logs(folder, pattern, read, faults))
        if logs:
            table = pd.concat([log.table for log in logs], ignore_index=True)
            first = [column for column in _ORDER if column in table]
            tables[name] = table[[*first, *table.columns.difference(first, sort=False)]]
            alignment[name] = _told(name, logs, bool(table["utc_ns"].notna().any()))
    return tables


def _logs(
    folder: Path, pattern: str, read: Callable[[Path], LogTable], faults: list[str]
) -> Iterator[LogTable]:
    for file in sorted(folder.glob("*")):
        found = re.fullmatch(pattern, file.name)
        if not found or not file.is_file() or not file.stat().st_size:
            continue
        try:
            log = read(file)
        except UnreadableInput as error:
            faults.append(f"{error}; it has no table.")
            continue
        if log.truncated_at is not None:
            faults.append(f"{file.name} is cut off at byte {log.truncated_at}.")
        if found.groups():  # the run's own number of the UE; each UE counts itself as 0
            log.table["ue"] = float(found[1])
        yield log


def _told(name: str, logs: list[LogTable], has_utc: bool) -> dict[str, object]:
    return {
        "source": "UTC" if has_utc else "none",
        "method": _METHODS[name] if has_utc else "its lines have no UTC: it is beside no other",
        "uncertainty_ns": _UNCERTAINTY_NS[name] if has_utc else None,
        "file": ", ".join(log.file.name for log in logs),
        "format": logs[0].kind,
        "notes": [note for log in logs for note in log.notes],
    }
