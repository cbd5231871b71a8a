# SPDX-License-Identifier: Apache-2.0
"""The signal strength that a phone reports in repeated `dumpsys telephony.registry`.

A line of `date +%s.%N` (or `### ` and seconds) is the timestamp of what follows; without such lines
samples are `period_s` apart. In a bugreport, zipped or not, the log buffers are read. If a phone
reports both 5G and LTE, 5G is used (CellSignalStrengthNr, then …Lte); 2147483647 is Android's
"not available".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ccu.scenarios.sources import bugreport, csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    last_step_s,
    not_too_long,
    radio_series,
)
from ddu.console.android_bugreport import is_bugreport
from ddu.console.problems import refusal

_STAMP = re.compile(r"^(?:### ?)?(\d{9,10}(?:\.\d+)?)\s*$")
_VALUE = re.compile(r"\b(ssRsrp|ssSinr|rsrp|rssnr)\s*=\s*(-?\d+)")
_NOT_AVAILABLE = 2**31 - 1
# LTE's rssnr is in tenths of a dB on some phones: above 30 dB it cannot be in dB (TS 36.133).
_MOST_LTE_SNR_DB = 30


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the RSRP and SINR of the signal, as radio."""
    stamps: list[float] = []
    rows: list[tuple[float, float]] = []
    now_s: float | None = None
    with _lines(file) as lines:
        for number, line in enumerate(lines, start=1):
            if stamp := _STAMP.match(line):
                if options.period_s is not None:
                    raise refusal(
                        "the log has timestamps, and --period is for one that has none",
                        "leave out --period",
                        file=file,
                        line=number,
                    )
                if now_s is not None and float(stamp[1]) < now_s:
                    raise refusal(
                        f"timestamp {stamp[1]} is before {now_s}",
                        "sort them",
                        file=file,
                        line=number,
                    )
                now_s = float(stamp[1])
            elif "SignalStrength:{" in line and (sample := _sample(line)):
                at_s = now_s
                if at_s is None:
                    if options.period_s is None:
                        raise refusal(
                            "the sample has no timestamp",
                            "write a line of `date +%s.%N` before each, or give --period 1s",
                            file=file,
                            line=number,
                        )
                    at_s = len(stamps) * options.period_s
                if not stamps or at_s > stamps[-1]:  # one block per SIM: the first has the data
                    stamps.append(at_s)
                    rows.append(sample)
    if not rows:
        raise refusal(
            "no SignalStrength with RSRP",
            (
                "give the output of `dumpsys telephony.registry`, or a bugreport whose radio log "
                "has them"
            ),
            file=file,
        )
    t_s = np.array(stamps) - stamps[0]
    rsrp_dbm, sinr_db = (np.array(column) for column in zip(*rows, strict=True))
    return ImportedScenario(
        duration_s=not_too_long(file, float(t_s[-1]) + last_step_s(t_s)),
        summary=f"Measurements of a phone: {file.name}, {len(rows)} samples.",
        sources=[f"RSRP and SINR: dumpsys telephony.registry of a phone, {file.name}."],
        **radio_series(file, options, t_s, rsrp_dbm, sinr_db),
    )


@contextmanager
def _lines(file: Path) -> Iterator[Iterable[str]]:
    if is_bugreport(csv_table.readable(file)):
        yield bugreport.stamped_signals(file)
        return
    with csv_table.opened(file).open(encoding="utf-8", errors="replace") as stream:
        yield stream


def _sample(line: str) -> tuple[float, float] | None:
    values = {name: int(value) for name, value in _VALUE.findall(line)}
    for rsrp, sinr in (("ssRsrp", "ssSinr"), ("rsrp", "rssnr")):
        if _NOT_AVAILABLE not in (values.get(rsrp, _NOT_AVAILABLE), values.get(sinr)):
            snr_db = float(values.get(sinr, 0))
            if sinr == "rssnr" and abs(snr_db) > _MOST_LTE_SNR_DB:
                snr_db /= 10
            return float(values[rsrp]), snr_db
    return None
