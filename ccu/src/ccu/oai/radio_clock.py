# SPDX-License-Identifier: Apache-2.0
"""The radio's own time: rfsim runs as fast as the host lets it, so its seconds are not ours."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import IO

HEADER = "utc_ns,duration_ns,radio_s,real_time_ratio"


class RadioClock:
    """From readings of samples and sampling rate, what the radio's time is now.

    Between readings it is extrapolated at the pace of the last two.
    """

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._file: IO[str] = file.open("w", buffering=1)
        self._file.write(HEADER + "\n")
        self._at_s: float | None = None
        self._radio_s = 0.0
        self._pace = 1.0
        self._utc_ns = 0
        self.ratios: list[tuple[int, int, float]] = []
        """(start in UTC ns, duration in ns, seconds of radio a second) of every interval."""

    def read(self, samples: int, rate_hz: float, utc_ns: int, monotonic_s: float) -> None:
        """One reading, and the instants at which it was taken."""
        radio_s = samples / rate_hz
        with self._lock:
            if self._at_s is not None and monotonic_s > self._at_s and radio_s >= self._radio_s:
                self._pace = (radio_s - self._radio_s) / (monotonic_s - self._at_s)
                duration_ns = utc_ns - self._utc_ns
                self.ratios.append((self._utc_ns, duration_ns, self._pace))
                self._file.write(f"{self._utc_ns},{duration_ns},{radio_s:.6f},{self._pace:.4f}\n")
            self._at_s, self._radio_s, self._utc_ns = monotonic_s, radio_s, utc_ns

    def now_s(self) -> float | None:
        """The radio's time; None before the first reading."""
        with self._lock:
            if self._at_s is None:
                return None
            return self._radio_s + (time.monotonic() - self._at_s) * self._pace

    def close(self) -> None:
        self._file.close()

    def mean_ratio(self, from_utc_ns: int = 0) -> float | None:
        """Seconds of radio a second of wall time, over all intervals that begin from then on."""
        chosen = [(ns, ratio) for start, ns, ratio in self.ratios if start >= from_utc_ns]
        total = sum(ns for ns, _ in chosen)
        return sum(ns * ratio for ns, ratio in chosen) / total if total else None
