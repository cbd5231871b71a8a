# SPDX-License-Identifier: Apache-2.0
"""The radio's time in lockstep, which is that of the hosts, beside wall time."""

from __future__ import annotations

import re
import threading
import time
from bisect import bisect
from pathlib import Path

from ccu.spec.errors import RunFailed
from ccu.testbeds.oai.background import Background
from ccu.testbeds.oai.lockstep.radio import SLOT_S, Radio
from ccu.testbeds.oai.radio_clock import HEADER
from ccu.testbeds.oai.stamp import stamp_of, utc_ns_of

_EVERY_S = 0.5
_WALL_HEADER = "utc_ns,wall_utc_ns"
# As docker and LXC's runtime stamp the lines of a container, RFC 3339 in UTC.
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", re.MULTILINE)


class RadioTime(Background):
    """A thread that asks the radio how far it is, and writes its pace and what wall time it was
    (docs/run-directory.md)."""

    def __init__(self, radio: Radio, folder: Path) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._client = radio.connect()
        self._file = (folder / "radio-time.csv").open("w", buffering=1)
        self._file.write(HEADER + "\n")
        self._wall_file = (folder / "wall-time.csv").open("w", buffering=1)
        self._wall_file.write(_WALL_HEADER + "\n")
        self._readings: list[tuple[int, int]] = []
        """(wall UTC ns, the radio's UTC ns), in order."""

    def now_ns(self) -> int | None:
        """Return the hosts' time at the slot before which the radio stands; None before the first,
        and after its end."""
        try:
            return self._read()[0]
        except RunFailed:
            return None

    def _read(self) -> tuple[int | None, float]:
        with self._lock:
            state = self._client.ask("state")
        return state["utc_ns"], state["slot"] * SLOT_S

    def _run(self) -> None:
        before: tuple[int, float, float] | None = None
        while not self._stop.wait(_EVERY_S):
            try:
                utc_ns, radio_s = self._read()
            except RunFailed:  # It has ended, which the supervisor reports.
                return
            now_s = time.monotonic()
            if utc_ns is None:
                continue
            wall_ns = time.time_ns()
            self._readings.append((wall_ns, utc_ns))
            self._wall_file.write(f"{utc_ns},{wall_ns}\n")
            if before is not None and radio_s > before[1]:
                begin_ns, passed_s = before[0], radio_s - before[1]
                ratio = passed_s / (now_s - before[2])
                duration_ns = round(passed_s * 1e9)
                self._file.write(f"{begin_ns},{duration_ns},{radio_s:.6f},{ratio:.4f}\n")
            before = utc_ns, radio_s, now_s

    def finish(self) -> None:
        self._end(self._client.close)  # The answer that the thread waits for may never come.
        self._file.close()
        self._wall_file.close()

    def restamp(self, log: Path) -> None:
        """Give the lines of a container's log the radio's time in place of wall time.

        Between two readings the radio's pace is taken as constant; before the first and after the
        last, its time passes as wall time.
        """
        if not self._readings or not log.exists():
            return
        text = log.read_text(errors="replace")
        log.write_text(_STAMP.sub(lambda one: stamp_of(self._radio_ns(utc_ns_of(one[0]))), text))

    def _radio_ns(self, wall_ns: int) -> int:
        after = bisect(self._readings, (wall_ns, 0))
        if after in (0, len(self._readings)):
            nearest_wall_ns, nearest_ns = self._readings[min(after, len(self._readings) - 1)]
            return nearest_ns + wall_ns - nearest_wall_ns
        (from_wall_ns, from_ns), (to_wall_ns, to_ns) = self._readings[after - 1 : after + 1]
        share = (wall_ns - from_wall_ns) / (to_wall_ns - from_wall_ns)
        return from_ns + round(share * (to_ns - from_ns))
