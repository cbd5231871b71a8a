# SPDX-License-Identifier: Apache-2.0
"""Readings of the gNB's nrL1_stats.log and nrRRC_stats.log.

Source: the format strings of `dump_nr_I0_stats`, `dump_pusch_stats`, `dump_pdsch_stats` and of the
RRC's statistics in OAI, 2023 to 2026; OAI's doc/RRC/rrc-usage.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import Field, Values, add_extra, field, number, take
from ddu.readers.format import READING, Format, by_line
from ddu.readers.logs import Line, LogTable, content_of, table_of, whole_lines
from ddu.readers.oai.reports import reports_of

_DB = r"(-?\d+[.,]-?\d+|-?\d+)"
L1_FIRST = ("utc_ns", "report", "mac_rnti")
RRC_FIRST = ("utc_ns", "report", "kind", "mac_rnti")


def _antennas(match: re.Match[str]) -> Values:
    values = [number(text) for text in match[1].strip(".").split(".") if text]
    return {f"l1_i0_antenna_{index}_db": value for index, value in enumerate(values)}


def _powers(match: re.Match[str]) -> Values:
    return {
        f"l1_ul_power_antenna_{match[1]}_db": number(match[2]),
        f"l1_ul_noise_antenna_{match[3]}_db": number(match[4]),
    }


_CELL = (
    field(r"Blacklisted PRBs (\d+)/(\d+)", "l1_blacklisted_prb", "l1_ul_prb"),
    field(r"max_I[O0] = (-?\d+) \((\d+)\)", "l1_max_i0_db", "l1_max_i0_at_prb"),
    field(r"min_I[O0] = (-?\d+) \((\d+)\)", "l1_min_i0_db", "l1_min_i0_at_prb"),
    field(r"avg_I[O0] = (-?\d+) dB", "l1_mean_i0_db"),
    field(rf"PRACH I0 = {_DB} dB", "l1_prach_i0_db"),
)
_ANTENNAS = Field(re.compile(r"(?<=dB)\(((?:-?\d+\.)+)\)"), _antennas)
_UE_FIELDS = (
    Field(re.compile(rf"ulsch_power\[(\d+)\] {_DB},? ulsch_noise_power\[(\d+)\] {_DB}"), _powers),
    field(r"sync_pos (-?\d+)", "l1_sync_pos_samples"),
    field(
        r"round_trials (\d+)\([^)]*\):(\d+)\([^)]*\):(\d+)\([^)]*\):(\d+)",
        *(f"l1_ul_rounds_{index}_count" for index in range(1, 5)),
    ),
    field(r"\bDTX (\d+)", "l1_ul_dtx_count"),
    field(r"total_bytes RX/SCHED (-?\d+)/(-?\d+)", "l1_ul_bytes", "l1_ul_bytes_scheduled"),
    field(r"total_bytes TX (-?\d+)", "l1_dl_bytes"),
)
_SHARED = re.compile(r"^(UL|DL)SCH RNTI +([0-9a-fA-F]{1,4})(?:, *(\d+)(?:\.\d+)?)?:? *(.*)$")
_PER_PRB = re.compile(r"^(?: ?-?\d+\.| X\.)+$")


def read_l1_log(file: Path) -> LogTable:
    """nrL1_stats.log: one row per reading for the cell (`mac_rnti` null), one per UE.

    `l1_i0_per_prb_db` is a JSON list, relative to the mean; null in it: a blacklisted PRB.
    Raises UnreadableInput when the file cannot be read or is not this log.
    """
    return _read(file, "oai-l1-readings", "nrL1_stats.log", L1_FIRST, _l1_rows)


def _l1_rows(lines: list[Line]) -> list[Values]:
    cell: Values = {}
    per_prb: list[float | int | None] = []
    ues: dict[str, Values] = {}
    row: Values | None = None
    direction = "ul"
    for line in lines:
        if _PER_PRB.match(line.text):
            per_prb += [number(text) for text in line.text.rstrip(".").split(".")]
        elif match := _SHARED.match(line.text):
            direction = match[1].lower()
            row = ues.setdefault(match[2], {"mac_rnti": int(match[2], 16)})
            _take_shared(row, direction, match[4])
        elif row is not None and line.text.startswith("   "):
            _take_shared(row, direction, line.text)
        else:
            values, extra = take(line.text, (_ANTENNAS, *_CELL))
            cell |= values
            add_extra(cell, extra if values else "")
    if per_prb:
        cell["l1_i0_per_prb_db"] = json.dumps(per_prb)
    return ([cell] if cell else []) + list(ues.values())


def _take_shared(row: Values, direction: str, text: str) -> None:
    of_direction = (
        field(r"current_Qm (\d+)", f"l1_{direction}_qm"),
        field(r"current_RI (\d+)", f"l1_{direction}_layers"),
    )
    values, extra = take(text, (*_UE_FIELDS, *of_direction))
    row |= values
    add_extra(row, extra)


_RRC_UE = re.compile(
    r"^UE (\d+) CU UE ID (\d+) DU UE ID (\d+) RNTI ([0-9a-fA-F]{4})"
    r" random identity ([0-9a-fA-F]+)(?: S-TMSI ([0-9a-fA-F]+))?:"
)
_RRC_CELL = re.compile(r"\[\d+\] (?:DU ID \d+.*: )?nrCellID (\d+), PCI (\d+)(.*)$")
_RRC_CELL_FIELDS = (
    field(r"SSB ARFCN (\d+)", "rrc_ssb_arfcn"),
    field(r"\bband (\d+)(?: ARFCN (\d+))?", "rrc_band", "rrc_arfcn"),
    field(r"SCS (\d+) \(kHz\)", "rrc_scs_khz"),
    field(r"PRB (\d+)", "rrc_prb"),
)
_RRC_UE_FIELDS = (
    field(r"last RRC activity: (\d+) seconds ago", "rrc_last_activity_s"),
    field(r"RSRP (-?\d+(?:\.\d+)?) dBm", "rrc_rsrp_dbm"),
    field(r"RSRQ (-?\d+(?:\.\d+)?) dB", "rrc_rsrq_db"),
    field(r"SINR (-?\d+(?:\.\d+)?) dB", "rrc_sinr_db"),
)


def read_rrc_log(file: Path) -> LogTable:
    """nrRRC_stats.log: one row per reading and UE (`kind` ue) or cell (`kind` cell).

    Raises UnreadableInput when the file cannot be read or is not this log.
    """
    return _read(file, "oai-rrc-readings", "nrRRC_stats.log", RRC_FIRST, _rrc_rows)


def _rrc_rows(lines: list[Line]) -> list[Values]:
    rows: list[Values] = []
    for line in lines:
        if match := _RRC_UE.match(line.text):
            rows.append(
                {
                    "kind": "ue",
                    "mac_rnti": int(match[4], 16),
                    "rrc_ue_index": int(match[1]),
                    "mac_cu_ue_id": int(match[2]),
                    "rrc_du_ue_id": int(match[3]),
                    "rrc_random_identity": match[5],
                    "rrc_s_tmsi": match[6],
                }
            )
        elif match := _RRC_CELL.search(line.text):
            cell = {"kind": "cell", "rrc_cell_id": int(match[1]), "rrc_pci": int(match[2])}
            values, extra = take(match[3], _RRC_CELL_FIELDS)
            rows.append(cell | values)
            add_extra(rows[-1], extra)
        elif rows and line.text.startswith("  "):
            fields = _RRC_UE_FIELDS if rows[-1]["kind"] == "ue" else _RRC_CELL_FIELDS
            values, extra = take(line.text, fields)
            rows[-1] |= values
            add_extra(rows[-1], extra)
    return rows


def _read(
    file: Path,
    kind: str,
    log: str,
    first: tuple[str, ...],
    rows_of: Callable[[list[Line]], list[Values]],
) -> LogTable:
    """Read a file of readings, each of which has the rows that `rows_of` makes of its lines."""
    text, truncated_at = whole_lines(content_of(file))
    rows: list[Values] = []
    for index, report in enumerate(reports_of(text)):
        known = {} if report.utc_ns is None else {"utc_ns": report.utc_ns}
        rows += [{"report": index, **known, **row} for row in rows_of(report.lines)]
    if not rows:
        raise UnreadableInput(file, f"no line of {log} in it")
    return LogTable(file, kind, table_of(rows, first), "", truncated_at)


FORMATS = (
    Format(
        "oai-l1-readings", by_line(r"\b[UD]LSCH RNTI |\bm(?:ax|in)_I[O0] = |\bPRACH I0 = |"
        r"\bavg_I[O0] = |\bBlacklisted PRBs "), read_l1_log, READING, "table",
        table="oai_l1", file="oai/nrL1_stats.log",
    ),
    Format(
        "oai-rrc-readings", by_line(r"\bUE \d+ CU UE ID \d+|\bnrCellID \d+, PCI \d"),
        read_rrc_log, READING, "table", table="oai_rrc", file="oai/nrRRC_stats.log",
    ),
)  # fmt: skip
