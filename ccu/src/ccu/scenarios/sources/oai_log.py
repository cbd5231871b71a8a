# SPDX-License-Identifier: Apache-2.0
"""RSRP and SINR of the first UE in the log of OpenAirInterface's gNB, versions 2023 to 2026.

The log has a block per UE, after a line `Frame.Slot F.S` (frames of 10 ms, modulo 1024) in standard
output, or after lines `### UTC seconds` if nrMAC_stats.log was read repeatedly. ddu's reader reads
far more of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ccu.scenarios.sources import csv_table, efficiency
from ddu.console.problems import refusal

_FRAMES = 1024
_FRAME_S = 0.010
_FRAME = re.compile(r"Frame\.Slot\s+(\d+)\.\d+")
_STAMP = re.compile(r"^###\s*(\d{9,10}(?:\.\d+)?)")
_UE = re.compile(r"UE RNTI ([0-9a-fA-F]+)")
_RSRP = re.compile(r"average RSRP (-?\d+)(?: \((\d+) meas\))?")
_SINR = re.compile(r"average SINR (-?)(\d+)\.-?(\d+)")  # minus 1.5 is printed as -1.-5
_CQI = re.compile(r"CQI (\d+)")
_MCS = re.compile(r"dlsch_rounds.* MCS (?:\((\d)\) )?(\d+)")


class Samples(NamedTuple):
    """The measurements and their times, in seconds since the first one."""

    t_s: np.ndarray
    rsrp_dbm: np.ndarray
    sinr_db: np.ndarray
    how: str
    """The source of the SINR."""


class _Time:
    """The time in seconds, by timestamps if there are any, else by frames."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._stamped = False
        self._last_frame: int | None = None

    def tick(self, line: str) -> bool:
        """Return whether the line begins another time."""
        if stamp := _STAMP.match(line):
            self.now_s, self._stamped = float(stamp[1]), True
            return True
        frame = None if self._stamped else _FRAME.search(line)
        if frame is None:
            return False
        number = int(frame[1])
        last = number if self._last_frame is None else self._last_frame
        self.now_s += (number - last) % _FRAMES * _FRAME_S
        self._last_frame = number
        return True


def read(file: Path) -> Samples:
    """Read the log. Raises RefusedError if there is no UE, or if time decreases."""
    time = _Time()
    rows: list[tuple[float, dict[str, float]]] = []
    sample: dict[str, float] = {}
    ue: str | None = None
    ours = True
    with csv_table.opened(file).open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            before_s = time.now_s
            if time.tick(line):
                if rows and time.now_s < before_s:
                    raise refusal(
                        "time goes back", "give the log of one run", file=file, line=number
                    )
                sample = {}
                rows.append((time.now_s, sample))
            if named := _UE.search(line):
                ue = ue or named[1]
                ours = named[1] == ue
            if ours:
                sample |= _values(line)
    return _best(file, [row for row in rows if "rsrp" in row[1]])


def _values(line: str) -> dict[str, float]:
    values: dict[str, float] = {}
    if (rsrp := _RSRP.search(line)) and rsrp[2] != "0":
        values["rsrp"] = float(rsrp[1])
    if sinr := _SINR.search(line):
        values["sinr"] = (-1 if sinr[1] else 1) * (int(sinr[2]) + int(sinr[3]) / 10)
    if cqi := _CQI.search(line):
        values["cqi"] = efficiency.sinr_of_cqi(float(cqi[1]))
    if mcs := _MCS.search(line):
        values["mcs"] = efficiency.sinr_of_mcs(float(mcs[2]), int(mcs[1] or 0))
    return values


_HOW = {
    "sinr": "as the gNB printed it",
    "cqi": "estimated from the CQI that the gNB printed",
    "mcs": "estimated from the MCS that the gNB chose",
}


def _best(file: Path, rows: list[tuple[float, dict[str, float]]]) -> Samples:
    for source, how in _HOW.items():
        known = {
            t_s: (sample["rsrp"], sample[source])
            for t_s, sample in rows
            if np.isfinite(sample.get(source, np.nan))
        }
        if known:
            t_s = np.array(list(known))
            rsrp_dbm, sinr_db = (np.array(column) for column in zip(*known.values(), strict=True))
            return Samples(t_s - t_s[0], rsrp_dbm, sinr_db, how)
    raise refusal(
        "no UE with RSRP and SINR, CQI or MCS",
        (
            "give the gNB's standard output, its nrMAC_stats.log read repeatedly, each time under "
            "`### seconds`, or a run's directory"
        ),
        file=file,
    )
