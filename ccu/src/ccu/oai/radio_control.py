# SPDX-License-Identifier: Apache-2.0
"""Both modems' telnet servers during a run: the scenario replayed, the radio's time, `o1 stats`."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ccu.errors import RunFailed
from ccu.oai.channel import Setting
from ccu.oai.configs import TELNET_PORT
from ccu.oai.frame_clock import FrameClock
from ccu.oai.radio_clock import RadioClock
from ccu.oai.replay import Replay
from ccu.oai.telnet import Softmodem, TelnetFailed

_READ_EVERY_S = 1.0
# o1 stats refuses to be asked twice within 1 ms, and its rates are since the last question.
_ASK_EVERY_S = 0.5
DOWNLINK, UPLINK = "rfsimu_channel_enB0", "rfsimu_channel_ue0"


class RadioControl:
    """The gNB has the uplink's model and the time; the first UE has the downlink's model."""

    def __init__(
        self, gnb_address: str, ue_address: str, settings: Sequence[Setting], folder: Path
    ) -> None:
        self._statistics: IO[str] = (folder / "o1-stats.jsonl").open("w", buffering=1)
        self.clock = RadioClock(folder / "radio-time.csv")
        self._modems: list[Softmodem] = []
        self._replays: list[Replay] = []
        self._next_read_s = self._next_ask_s = 0.0
        self.notes: list[str] = []
        """What this version does not tell, in sentences; it makes no run worse."""
        self._stdout = folder / "gnb-stdout.log"
        self._frames: FrameClock | None = None
        try:
            gnb = self._connect(gnb_address)
            self._gnb = gnb
            self._replays.append(
                Replay(gnb, UPLINK, settings, self.clock, folder / "channel-ul.csv", self._tick)
            )
            ue = self._connect(ue_address)
            self._replays.append(
                Replay(ue, DOWNLINK, settings, self.clock, folder / "channel-dl.csv")
            )
        except TelnetFailed as error:
            self._close()
            raise RunFailed("channel control", str(error)) from None

    def _connect(self, address: str) -> Softmodem:
        modem = Softmodem(address, TELNET_PORT)
        self._modems.append(modem)
        return modem

    def start(self) -> None:
        for replay in self._replays:
            replay.start()

    def check(self) -> None:
        """Raises RunFailed if a replay has broken off."""
        for replay in self._replays:
            if replay.failure:
                raise RunFailed("channel control", replay.failure)

    def _tick(self) -> None:
        """One question at a time: the next setting must not wait for two answers."""
        now_s = time.monotonic()
        if now_s >= self._next_read_s:
            self._next_read_s = now_s + _READ_EVERY_S
            self._read_time(now_s)
        elif now_s >= self._next_ask_s:
            self._next_ask_s = now_s + _ASK_EVERY_S
            self._ask()

    def _read_time(self, asked_s: float) -> None:
        if self._frames is None:
            try:
                samples, rate_hz = self._gnb.radio_time()
            except TelnetFailed as error:
                self.notes.append(f"the radio's time is that of the gNB's frames: {error}")
                self._frames = FrameClock(self._stdout)
            else:
                # The answer was made somewhere between question and arrival.
                half_s = (time.monotonic() - asked_s) / 2
                utc_ns = time.time_ns() - round(half_s * 1e9)
                self.clock.read(samples, rate_hz, utc_ns, asked_s + half_s)
                return
        if found := self._frames.latest():
            radio_s, utc_ns = found
            ago_s = (time.time_ns() - utc_ns) / 1e9
            self.clock.read(round(radio_s * 1e9), 1e9, utc_ns, time.monotonic() - ago_s)

    def _ask(self) -> None:
        try:
            answer = self._gnb.statistics()
        except TelnetFailed as error:
            # Versions before 2024 have no o1 module: the rest goes on without.
            self._next_ask_s = float("inf")
            self.notes.append(f"o1 stats is not kept: {error}")
            return
        self._statistics.write(json.dumps({"utc_ns": time.time_ns(), "answer": answer}) + "\n")

    def finish(self) -> list[str]:
        """Ends the replays and restores both models; sentences about what went wrong."""
        problems = []
        for replay in self._replays:
            try:
                replay.finish()
            except TelnetFailed as error:
                problems.append(f"the channel model was not restored: {error}")
        self._close()
        return problems + self._lateness()

    def _lateness(self) -> list[str]:
        told = []
        for name, replay in zip(("uplink", "downlink"), self._replays, strict=True):
            late = sorted(replay.late_ms)
            if not late:
                told.append(f"the {name}'s channel was never set: the radio's time stood still")
                continue
            p99_ms = late[min(len(late) - 1, int(len(late) * 0.99))]
            if p99_ms > 100 or replay.skipped_count > 0.05 * len(late):
                told.append(
                    f"the {name}'s channel followed its scenario late: {p99_ms:.0f} ms (p99), "
                    f"{replay.skipped_count} of {len(late) + replay.skipped_count} settings skipped"
                )
        return told

    def _close(self) -> None:
        for modem in self._modems:
            modem.close()
        self._statistics.close()
        self.clock.close()
