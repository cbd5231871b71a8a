# SPDX-License-Identifier: Apache-2.0
"""CSV of drive-test apps: a row a second or so, with a time and the serving cell's levels.

Known by their columns: G-NetTrack Pro's (as in UCC's 5G dataset, Raca et al., MMSys 2020), the
names of Android's own API as Lumos5G's app writes them (Narayanan et al., IMC 2020), and plain ones
(`rsrp`, `ss_sinr`, …). `docs/log-sources.md` lists them. Other columns keep their name and values.
"""

from __future__ import annotations

import re
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.android.cells import LTE, NONE, NSA, SA
from ddu.readers.android.events import events_of, fell_back
from ddu.readers.android.reading import PHONE_CLOCK
from ddu.readers.android.signal import NOT_AVAILABLE
from ddu.readers.fields import Values, number
from ddu.readers.foreign_csv import ForeignCsv
from ddu.readers.format import Format, by_line
from ddu.readers.logs import LogTable, table_of
from ddu.readers.timestamps import stamp

KIND = "drive-test"
FIRST = ("utc_ns", "local_ns", "of_day_ns", "ue", "mac_technology")

TIMES = ("timestamp", "time", "date", "datetime", "utc_ns", "epoch", "unixtime")
COLUMNS: dict[str, tuple[str, float, float, float]] = {
    # theirs, without case, blanks, - and _: ours, factor, least and greatest that can be reported
    "rsrp": ("mac_rsrp_dbm", 1.0, -156, -31),
    "level": ("mac_rsrp_dbm", 1.0, -156, -31),
    "rsrq": ("mac_rsrq_db", 1.0, -43, 20),
    "qual": ("mac_rsrq_db", 1.0, -43, 20),
    "snr": ("mac_sinr_db", 1.0, -30, 50),
    "sinr": ("mac_sinr_db", 1.0, -30, 50),
    "rssnr": ("mac_sinr_db", 1.0, -30, 50),
    "cqi": ("mac_cqi", 1.0, 0, 15),
    "pci": ("mac_pci", 1.0, 0, 1007),
    "band": ("mac_band", 1.0, 1, 1024),
    "arfcn": ("mac_arfcn", 1.0, 0, 3_279_165),
    "nrssrsrp": ("mac_nr_rsrp_dbm", 1.0, -156, -31),
    "ssrsrp": ("mac_nr_rsrp_dbm", 1.0, -156, -31),
    "nrssrsrq": ("mac_nr_rsrq_db", 1.0, -43, 20),
    "ssrsrq": ("mac_nr_rsrq_db", 1.0, -43, 20),
    "nrsssinr": ("mac_nr_sinr_db", 1.0, -23, 40),
    "sssinr": ("mac_nr_sinr_db", 1.0, -23, 40),
    "ltersrp": ("mac_lte_rsrp_dbm", 1.0, -156, -43),
    "ltersrq": ("mac_lte_rsrq_db", 1.0, -34, 3),
    "lterssnr": ("mac_lte_sinr_db", 1.0, -30, 30),
    "lterssi": ("mac_lte_rssi_dbm", 1.0, -120, 0),
    "latitude": ("phone_latitude_deg", 1.0, -90, 90),
    "longitude": ("phone_longitude_deg", 1.0, -180, 180),
    "speed": ("phone_speed_kmh", 1.0, 0, 1000),
    "dlbitrate": ("mac_dl_goodput_bps", 1e3, 0, 1e11),
    "ulbitrate": ("mac_ul_goodput_bps", 1e3, 0, 1e11),
}
_TECHNOLOGY = ("networkmode", "networktech", "technology", "rat", "networktype")
_MODES = {
    "5G": NSA, "NR": NSA, "NRNSA": NSA, "5GNSA": NSA, "ENDC": NSA, "LTENR": NSA,
    "NRSA": SA, "5GSA": SA, "SA": SA, "LTE": LTE, "4G": LTE, "LTECA": LTE, "NOSERVICE": NONE,
}  # fmt: skip
_LOCAL = re.compile(r"^(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)$")
_GNB_COLUMNS = ("rnti", "ueid", "ranueid", "amfuengapid")
"""Columns of a gNB's CSV, not of a phone's (ddu.readers.ran_csv)."""
_LEVELS = ("mac_rsrp_dbm", "mac_nr_rsrp_dbm", "mac_lte_rsrp_dbm")


def read_drive_test(file: Path) -> LogTable:
    """One row per line of the file; a value that cannot be is null.

    Raises UnreadableInput when no header has a time and a level, or a line is broken.
    """
    content = ForeignCsv(file)
    names = content.names
    keys = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    times = _time_columns(keys)
    known = {COLUMNS[key][0] for key in keys if key in COLUMNS}
    if not times or not known & set(_LEVELS) or set(keys) & set(_GNB_COLUMNS):
        raise UnreadableInput(
            file,
            "no column of time beside one of RSRP",
            "see docs/log-sources.md for the columns of drive-test apps that are known",
            line=1,
        )
    rows = []
    for cells in content.rows():
        at = " ".join(cells[time].strip() for time in times)
        rows.append({"ue": 0, **_row(names, keys, cells), **_times(at)})
    return LogTable(file, KIND, table_of(rows, FIRST), "", content.truncated_at)


def _time_columns(keys: list[str]) -> list[int]:
    """Return where the time of a row stands: date and time of day may have a column each."""
    both = ["date", "time"]
    times = [at for at, key in enumerate(keys) if key in TIMES]
    if times and keys[times[0]] in both and set(both) <= set(keys):
        return [keys.index(one) for one in both]
    return times[:1]


def _row(names: list[str], keys: list[str], cells: list[str]) -> Values:
    row: Values = {}
    rest = []
    for name, key, cell in zip(names, keys, cells, strict=True):
        text = cell.strip()
        if key in TIMES or text in ("", "-"):
            continue
        if key in COLUMNS:
            column, factor, least, greatest = COLUMNS[key]
            value = number(text)
            if value is not None and value != NOT_AVAILABLE and least <= value * factor <= greatest:
                row.setdefault(column, value * factor)
        elif key in _TECHNOLOGY:
            mode = _MODES.get(re.sub(r"[^A-Z0-9]", "", text.upper()))
            if mode is not None:
                row["mac_technology"] = mode
        else:
            rest.append(f"{name}={text}")
    _serving(row)
    return row | ({"extra": " ".join(rest)} if rest else {})


def _serving(row: Values) -> None:
    """Fill in the serving cell where only the API's own names are given: NR if it is measured."""
    if "mac_rsrp_dbm" in row:
        return
    kind = "nr" if "mac_nr_rsrp_dbm" in row else "lte"
    for name in ("rsrp_dbm", "rsrq_db", "sinr_db"):
        if f"mac_{kind}_{name}" in row:
            row[f"mac_{name}"] = row[f"mac_{kind}_{name}"]


def _times(text: str) -> dict[str, int]:
    if match := _LOCAL.match(text.strip()):
        year, month, day, hour, minute, second = match.groups()
        text = f"{year}-{month}-{day} {hour}:{minute}:{second}"
    known = stamp(text)
    return known.columns if known else {}


FORMATS = (
    Format(
        KIND, by_line(r"(?i)\A\s*(?=[^\n]*,)[^\n]*(?:rsrp|\blevel\b)"), read_drive_test,
        PHONE_CLOCK, "mac", source="drive-test", events=events_of, warning=fell_back,
    ),
)  # fmt: skip
