# SPDX-License-Identifier: Apache-2.0
"""MAC samples in CSV as xApps of FlexRIC and of KPM monitors write them.

FlexRIC's MAC service model names its columns after `mac_ue_stats_impl_t`; KPM's measurements are
named by 3GPP TS 28.552. The time is `tstamp` or `timestamp`: s, ms, µs or ns since 1970.
Other columns keep their name and values.
"""

from __future__ import annotations

import re
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import number
from ddu.readers.foreign_csv import ForeignCsv
from ddu.readers.format import ARRIVAL, Format, by_line
from ddu.readers.logs import LogTable, table_of
from ddu.readers.timestamps import stamp

FIRST = ("utc_ns", "local_ns", "of_day_ns", "ue", "mac_rnti")
_TIMES = ("tstamp", "timestamp", "time", "utc_ns", "timestamp_ms", "timestamp_us", "timestamp_ns")
_UES = ("rnti", "ue_id", "ran_ue_id", "amf_ue_ngap_id", "ueid", "ue")

_DIRECTION_COLUMNS = {
    "{direction}_aggr_tbs": ("mac_{direction}_bytes", 1.0),
    "{direction}_aggr_bytes_sdus": ("mac_{direction}_sdu_bytes", 1.0),
    "{direction}_aggr_sdus": ("mac_{direction}_sdu_count", 1.0),
    "{direction}_aggr_prb": ("mac_{direction}_prb_count", 1.0),
    "{direction}_aggr_retx_prb": ("mac_{direction}_retx_prb_count", 1.0),
    "{direction}_mcs1": ("mac_{direction}_mcs", 1.0),
    "{direction}_bler": ("mac_{direction}_bler_ratio", 1.0),
    "drb.uethp{direction}": ("mac_{direction}_goodput_bps", 1e3),
}
_COLUMNS = {
    "rnti": ("mac_rnti", 1.0),
    "wb_cqi": ("mac_cqi", 1.0),
    "cqi": ("mac_cqi", 1.0),
    "rsrp": ("mac_rsrp_dbm", 1.0),
    "sinr": ("mac_sinr_db", 1.0),
    "phr": ("mac_phr_db", 1.0),
    "bsr": ("mac_ul_bsr_queue_bytes", 1.0),
    "pusch_snr": ("mac_ul_snr_db", 1.0),
    "pucch_snr": ("mac_pucch0_snr_db", 1.0),
} | {
    name.format(direction=direction): (column.format(direction=direction), scale)
    for name, (column, scale) in _DIRECTION_COLUMNS.items()
    for direction in ("dl", "ul")
}
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,8}")
_NO_SNR_DB = -64.0
"""The SNR in FlexRIC's structure where none was measured."""


def read_ran_csv(file: Path) -> LogTable:
    """One row per report and UE; `ue` counts the identities in order of appearance.

    Raises UnreadableInput when the file has no header with a time and a known measurement.
    """
    content = ForeignCsv(file)
    names = content.names
    bare = [name.lower().removeprefix("mac_").removeprefix("kpm_") for name in names]
    time = next((at for at, name in enumerate(bare) if name in _TIMES), None)
    if time is None or not set(bare) & set(_COLUMNS):
        raise UnreadableInput(
            file,
            "no column of time (tstamp, timestamp) beside one of FlexRIC's or KPM's",
            "is it an xApp's CSV with its header?",
            line=1,
        )
    ues: dict[str, int] = {}
    identity = next((bare.index(name) for name in _UES if name in bare), None)
    rows = []
    for cells in content.rows():
        row = _row(names, bare, cells)
        if at := stamp(cells[time]):
            row |= at.columns
        named = cells[identity].strip() if identity is not None else ""
        row["ue"] = ues.setdefault(named, len(ues))
        rows.append(row)
    return LogTable(file, "ran-csv", table_of(rows, FIRST), "", content.truncated_at)


def _row(names: list[str], bare: list[str], cells: list[str]) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, key, cell in zip(names, bare, cells, strict=True):
        if key in _TIMES or not cell.strip():
            continue
        value = _number(cell)
        if key in _COLUMNS and value is not None:
            column, scale = _COLUMNS[key]
            row[column] = (
                None if column.endswith("_snr_db") and value == _NO_SNR_DB else value * scale
            )
        elif key not in _COLUMNS:
            row[name] = cell.strip() if value is None else value
    return row


def _number(cell: str) -> float | int | None:
    """Parse a number; an RNTI may be hexadecimal."""
    return int(cell, 16) if _HEXADECIMAL.fullmatch(cell.strip()) else number(cell)


FORMATS = (
    Format(
        "ran-csv",
        by_line(rf"(?i)\A\s*(?=[^\n]*,)[^\n]*\b(?:mac_|kpm_)?(?:{'|'.join(_COLUMNS)})\b"),
        read_ran_csv, ARRIVAL, "mac", source="xapp",
    ),
)  # fmt: skip
