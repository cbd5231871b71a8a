# SPDX-License-Identifier: Apache-2.0
"""The radio's own time: rfsim runs as fast as the host allows, not in real time."""

from __future__ import annotations

import csv
import math
import threading
import time
from pathlib import Path
from typing import IO, NamedTuple

HEADER = "utc_ns,duration_ns,radio_s,real_time_ratio"
_PACE_OVER_S = 1.0
# Over less time, the duration of the answers dominates the pace.
_SHORTEST_S = 0.5


class _Reading(NamedTuple):
    at_s: float
    radio_s: float
    utc_ns: int


class RadioClock:
    """The radio's present time, from readings of samples and sampling rate.

    Between readings it is extrapolated at the pace of the last second.
    """

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._file: IO[str] = file.open("w", buffering=1)
        self._file.write(HEADER + "\n")
        self._recent: list[_Reading] = []
        """The recent readings, the newest last; the pace is measured from the first."""
        self._pace: float | None = None
        self._written: _Reading | None = None
        self.ratios: list[tuple[int, int, float]] = []
        """(start in UTC ns, duration in ns, radio seconds per second) of every interval."""

    def read(
        self,
        samples: int,
        rate_hz: float,
        utc_ns: int,
        monotonic_s: float,
        uncertainty_s: float = 0.0,
    ) -> None:
        """Record a reading and the instants at which it was taken, within `uncertainty_s`.

        A late answer is no more accurate than the prediction for that instant: the prediction is
        kept within the uncertainty, or a busy host would make the radio's time jump.
        """
        radio_s = samples / rate_hz
        with self._lock:
            if self._pace is not None:
                slack_s = uncertainty_s * self._pace
                radio_s = min(max(self._at(monotonic_s), radio_s - slack_s), radio_s + slack_s)
            reading = _Reading(monotonic_s, radio_s, utc_ns)
            self._recent.append(reading)
            while len(self._recent) > 2 and self._recent[1].at_s <= monotonic_s - _PACE_OVER_S:
                self._recent.pop(0)
            first = self._recent[0]
            if monotonic_s - first.at_s >= _SHORTEST_S and radio_s >= first.radio_s:
                self._pace = (radio_s - first.radio_s) / (monotonic_s - first.at_s)
            self._write(reading)

    def _write(self, now: _Reading) -> None:
        """Write a row for the time since the last one."""
        before = self._written
        if before is not None and now.at_s - before.at_s < _SHORTEST_S:
            return
        self._written = now
        if before is not None and now.radio_s >= before.radio_s:
            ratio = (now.radio_s - before.radio_s) / (now.at_s - before.at_s)
            duration_ns = now.utc_ns - before.utc_ns
            self.ratios.append((before.utc_ns, duration_ns, ratio))
            self._file.write(f"{before.utc_ns},{duration_ns},{now.radio_s:.6f},{ratio:.4f}\n")

    def _at(self, monotonic_s: float) -> float:
        last = self._recent[-1]
        return last.radio_s + (monotonic_s - last.at_s) * (self._pace or 0.0)

    def now_s(self) -> float | None:
        """Return the radio's time; None until its pace is known."""
        with self._lock:
            return None if self._pace is None else self._at(time.monotonic())

    def lasts_s(self, radio_s: float) -> float:
        """Return the wall time of `radio_s` radio seconds at its pace; infinity at standstill."""
        with self._lock:
            return radio_s / self._pace if self._pace else math.inf

    def close(self) -> None:
        self._file.close()

    def mean_ratio(self) -> float | None:
        """Return radio seconds per second of wall time, over all intervals."""
        total = sum(ns for _, ns, _ in self.ratios)
        return sum(ns * ratio for _, ns, ratio in self.ratios) / total if total else None


def recorded_factor(file: Path) -> float | None:
    """Return radio seconds per second of wall time over a whole file of RadioClock."""
    if not file.exists():
        return None
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    wall_ns = sum(int(row["duration_ns"]) for row in rows)
    weighted = sum(int(row["duration_ns"]) * float(row["real_time_ratio"]) for row in rows)
    return weighted / wall_ns if wall_ns else None
