# SPDX-License-Identifier: Apache-2.0
"""The signal strength that a phone reports in repeated `dumpsys telephony.registry`.

A line of `date +%s.%N` (or `### ` and seconds) is the timestamp of what follows; without such lines
samples are `period_s` apart. Of several SIMs the first with a signal counts. In a bugreport, zipped
or not, each signal strength has a time. If a phone reports both 5G and LTE, 5G is used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import (
    ImportedScenario,
    ImportOptions,
    covered_s,
    radio_series,
)
from ddu.console.problems import refusal

_PHONE = re.compile(r"\s*Phone Id=(\d+)")
"""The heading of the state of a SIM."""


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the RSRP and SINR of the signal, as radio."""
    from ddu.readers.android.bugreport_text import is_bugreport

    bugreport = is_bugreport(csv_table.readable(file))
    signals = _of_bugreport(file) if bugreport else _of_text(file, options.period_s)
    samples: dict[float, tuple[float, float]] = {}
    for at_s, sample in signals:  # A block per SIM: the first has the data.
        samples.setdefault(at_s, sample)
    if not samples:
        raise refusal(
            "no SignalStrength with RSRP",
            "give the output of `dumpsys telephony.registry`, or a bugreport whose radio log "
            "has them",
            file=file,
        )
    t_s = np.array(list(samples)) - next(iter(samples))
    rsrp_dbm, sinr_db = (np.array(column) for column in zip(*samples.values(), strict=True))
    return ImportedScenario(
        duration_s=covered_s(file, t_s),
        summary=f"Measurements of a phone: {file.name}, {len(samples)} samples.",
        sources=[f"RSRP and SINR: dumpsys telephony.registry of a phone, {file.name}."],
        **radio_series(file, options, t_s, rsrp_dbm, sinr_db),
    )


def _of_bugreport(file: Path) -> Iterator[tuple[float, tuple[float, float]]]:
    """Yield the samples of the SIM with the most of them, in order of time."""
    from ddu.readers.android.bugreport import read_bugreport

    history = [one for one in read_bugreport(file).history if one.name == "mSignalStrength"]
    for phone, _ in Counter(one.phone for one in history).most_common(1):
        for one in history:
            if one.phone == phone and (sample := _sample(one.text)):
                yield one.local_ns / 1e9, sample


def _of_text(file: Path, period_s: float | None) -> Iterator[tuple[float, tuple[float, float]]]:
    from ddu.readers.android.log import STAMP
    from ddu.readers.logs import content_of, whole_lines

    text, _ = whole_lines(content_of(csv_table.readable_text(file)))
    now_s: float | None = None
    unstamped = 0
    phone = first = None
    for number, line in enumerate(text.splitlines(), start=1):
        if stamp := STAMP.match(line):
            at_s = float(f"{stamp[1]}.{stamp[2] or 0}")
            if period_s is not None:
                raise refusal(
                    "the log has timestamps, and --period is for one that has none",
                    "leave out --period",
                    file=file,
                    line=number,
                )
            if now_s is not None and at_s < now_s:
                rule = f"timestamp {at_s} is before {now_s}"
                raise refusal(rule, "sort them", file=file, line=number)
            now_s = at_s
        elif heading := _PHONE.match(line):
            phone = heading[1]
        elif (sample := _sample(line)) and first in (None, phone):
            first = phone
            if now_s is None and period_s is None:
                raise refusal(
                    "the sample has no timestamp",
                    "write a line of `date +%s.%N` before each, or give --period 1s",
                    file=file,
                    line=number,
                )
            yield now_s if now_s is not None else unstamped * (period_s or 0.0), sample
            unstamped += 1


def _sample(line: str) -> tuple[float, float] | None:
    """Return RSRP and SINR; None for a line without both."""
    from ddu.readers.android.signal import signal_of

    values, _ = signal_of(line) or ({}, "")
    for kind in ("nr", "lte"):
        rsrp_dbm, sinr_db = (values.get(f"mac_{kind}_{name}") for name in ("rsrp_dbm", "sinr_db"))
        if rsrp_dbm is not None and sinr_db is not None:
            return float(str(rsrp_dbm)), float(str(sinr_db))
    return None
