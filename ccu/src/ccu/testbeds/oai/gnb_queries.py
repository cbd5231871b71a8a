# SPDX-License-Identifier: Apache-2.0
"""The queries to the gNB while its channel models are set: the radio's time and `o1 stats`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import IO

from ccu.testbeds.oai.background import Background
from ccu.testbeds.oai.frame_clock import FrameClock
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.telnet import Softmodem, TelnetFailed

_READ_EVERY_S = 1.0
# Until the radio's pace is known.
_FIRST_READ_EVERY_S = 0.2
# o1 stats refuses a second query within 1 ms; its rates cover the time since the last query.
_ASK_EVERY_S = 0.5
# After this time a query is sent even if a setting leaves no time for its answer.
_OVERDUE_S = 1.0


class GnbQueries:
    """Periodic queries, into o1-stats.jsonl and the radio's clock, if there is one. `notes` reports
    a version without an answer once."""

    def __init__(self, gnb: Softmodem, clock: RadioClock | None, folder: Path) -> None:
        self._gnb = gnb
        self._clock = clock
        self._statistics: IO[str] = (folder / "o1-stats.jsonl").open("w", buffering=1)
        self._stdout = folder / "gnb-stdout.log"
        self._frames: FrameClock | None = None
        self._next_read_s = 0.0 if clock else float("inf")
        self._next_ask_s = 0.0
        self.notes: list[str] = []

    def ask_one(self, available_s: float) -> None:
        """Send at most one query, and only if its answer is likely to come within `available_s`.

        A setting may wait for half an answer: it is sent early by that.
        """
        now_s = time.monotonic()
        fits = self._gnb.answer_s <= available_s + self._gnb.answer_s / 2
        if now_s >= self._next_read_s and (fits or now_s >= self._next_read_s + _OVERDUE_S):
            self._read_time(now_s)
        elif now_s >= self._next_ask_s and (fits or now_s >= self._next_ask_s + _OVERDUE_S):
            self._next_ask_s = now_s + _ASK_EVERY_S
            self._ask_statistics()

    def _read_time(self, asked_s: float) -> None:
        assert self._clock is not None
        unknown = self._clock.now_s() is None
        self._next_read_s = asked_s + (_FIRST_READ_EVERY_S if unknown else _READ_EVERY_S)
        if self._frames is None:
            try:
                samples, rate_hz = self._gnb.radio_time()
            except TelnetFailed as error:
                self.notes.append(f"the radio's time is that of the gNB's frames: {error}")
                self._frames = FrameClock(self._stdout)
            else:
                # The answer was made at some time between query and arrival.
                half_s = (time.monotonic() - asked_s) / 2
                utc_ns = time.time_ns() - round(half_s * 1e9)
                self._clock.read(samples, rate_hz, utc_ns, asked_s + half_s, half_s)
                return
        if latest := self._frames.latest():
            radio_s, utc_ns = latest
            ago_s = (time.time_ns() - utc_ns) / 1e9
            self._clock.read(round(radio_s * 1e9), 1e9, utc_ns, time.monotonic() - ago_s)

    def _ask_statistics(self) -> None:
        try:
            answer = self._gnb.statistics()
        except TelnetFailed as error:
            # Versions before 2024 have no o1 module: continue without.
            self._next_ask_s = float("inf")
            self.notes.append(f"o1 stats is not available: {error}")
            return
        self._statistics.write(json.dumps({"utc_ns": time.time_ns(), "answer": answer}) + "\n")

    def close(self) -> None:
        self._statistics.close()


class Statistics(Background):
    """The queries of `o1 stats` alone, over a USRP, where the radio keeps real time. A gNB that
    does not answer does not degrade the run; `notes` reports it."""

    def __init__(self, address: str, port: int, folder: Path) -> None:
        super().__init__()
        self.notes: list[str] = []
        self._folder = folder
        self._gnb: Softmodem | None = None
        try:
            self._gnb = Softmodem(address, port)
        except TelnetFailed as error:
            self.notes.append(f"o1 stats is not available: {error}")

    def _run(self) -> None:
        if self._gnb is None:
            return
        questions = GnbQueries(self._gnb, None, self._folder)
        while not self._stop.wait(_ASK_EVERY_S / 5):
            questions.ask_one(_ASK_EVERY_S)
        self.notes += questions.notes
        questions.close()

    def finish(self) -> None:
        self._end()
        if self._gnb is not None:
            self._gnb.close()
