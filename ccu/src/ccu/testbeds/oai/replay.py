# SPDX-License-Identifier: Apache-2.0
"""The replay of settings in a modem's channel models, paced by the radio's time."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ccu.scenarios.oai_channel_model import STEP_S, Setting
from ccu.testbeds.oai.background import Background
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.telnet import ChannelModel, Softmodem, TelnetFailed

HEADER = ("utc_ns", "radio_s", "model", "ploss_db", "noise_db", "late_ms", "sent_ms", "ue")
_LONGEST_WAIT_S = 0.05


class ChannelLog:
    """The log of the settings of one direction's models (docs/run-directory.md)."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._file = file.open("w", newline="")
        self._out = csv.writer(self._file)
        self._out.writerow(HEADER)

    def write(
        self, due_s: float, track: Track, late_ms: float, sent_ms: float, utc_ns: int | None = None
    ) -> None:
        """Write a setting; `utc_ns`: when it was made, if not now."""
        times = (time.time_ns() if utc_ns is None else utc_ns, f"{due_s:.3f}")
        set_to = (track.model.name, track.now.ploss_db, track.now.noise_db)
        with self._lock:
            self._out.writerow([*times, *set_to, f"{late_ms:.1f}", f"{sent_ms:.1f}", track.ue])

    def close(self) -> None:
        self._file.close()


class Track:
    """The channel of one UE in one direction: its model, and its settings over time.

    `ue` counts from 0. Raises TelnetFailed if the modem has no such model.
    """

    def __init__(
        self, modem: Softmodem, model_name: str, ue: int, settings: Sequence[Setting]
    ) -> None:
        self._modem = modem
        self.ue = ue
        self.model = _find(modem.models(), model_name)
        self._settings = settings
        self.now = self._original = Setting(self.model.ploss_db, self.model.noise_db)

    def setting(self, index: int) -> Setting:
        """Return a setting; a scenario shorter than the run repeats, as nr-link plays it."""
        return self._settings[index % len(self._settings)]

    def commands(self, wanted: Setting) -> int:
        """Return how many commands a setting takes."""
        return (wanted.noise_db != self.now.noise_db) + (wanted.ploss_db != self.now.ploss_db)

    def set(self, wanted: Setting) -> None:
        if wanted.noise_db != self.now.noise_db:
            self._modem.modify(self.model.index, "noise_power_dB", wanted.noise_db)
        if wanted.ploss_db != self.now.ploss_db:
            self._modem.modify(self.model.index, "ploss", wanted.ploss_db)
        self.now = wanted

    def restore(self) -> None:
        self.set(self._original)


class Replay(Background):
    """The replay in the models of one modem. Late settings are skipped: the newest one counts.

    A command takes effect at some instant between its sending and its answer, which takes up to
    some 60 ms on a busy host: it is sent early by half of an answer's duration, so that both are
    near the instant at which it is due. `tick(available_s)` is called between settings, with the
    same connection (the server accepts one client) and the seconds that it may take.
    """

    def __init__(
        self,
        modem: Softmodem,
        tracks: Sequence[Track],
        clock: RadioClock,
        log: ChannelLog,
        tick: Callable[[float], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._modem = modem
        self._tracks = tracks
        self._clock = clock
        self._log = log
        self._tick = tick
        self.failure: str | None = None
        self.skipped_count = 0
        self.off_ms: list[float] = []
        """The largest deviation of each setting from its due instant, in radio time."""

    def finish(self) -> None:
        """End the replay and restore the models. Raises TelnetFailed."""
        self._end()
        for track in self._tracks:
            track.restore()

    def _run(self) -> None:
        try:
            self._play()
        except (TelnetFailed, OSError) as error:  # of a log, as on a full disk
            self.failure = str(error)

    def _play(self) -> None:
        while (begin_s := self._clock.now_s()) is None and not self._stop.is_set():
            self._tick(_LONGEST_WAIT_S)
            self._stop.wait(0.005)
        index = 0
        while begin_s is not None and not self._stop.is_set():
            available_s = self._available_s(begin_s, index)
            if available_s > 0:
                began_s = time.monotonic()
                self._tick(available_s)
                left_s = available_s - (time.monotonic() - began_s)
                self._stop.wait(min(max(left_s, 0.0), _LONGEST_WAIT_S))
                continue
            self._update(index, begin_s + index * STEP_S)
            # The next setting, or the one that is due now.
            newest = int((self._now_s() - begin_s) / STEP_S)
            self.skipped_count += max(newest - index - 1, 0)
            index = max(newest, index + 1)

    def _available_s(self, begin_s: float, index: int) -> float:
        """Return the wall time in seconds until the setting has to be sent."""
        count = sum(track.commands(track.setting(index)) for track in self._tracks)
        due_s = begin_s + index * STEP_S
        return self._clock.lasts_s(due_s - self._now_s()) - count * self._modem.answer_s / 2

    def _now_s(self) -> float:
        now_s = self._clock.now_s()
        assert now_s is not None
        return now_s

    def _update(self, index: int, due_s: float) -> None:
        for track in self._tracks:
            sent_ms = (self._now_s() - due_s) * 1e3
            track.set(track.setting(index))
            late_ms = (self._now_s() - due_s) * 1e3
            self.off_ms.append(max(abs(sent_ms), abs(late_ms)))
            self._log.write(due_s, track, late_ms, sent_ms)


def _find(models: Sequence[ChannelModel], name: str) -> ChannelModel:
    for model in models:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in models) or "none"
    raise TelnetFailed(f"no channel model {name}; there are {known} (is rfsim's chanmod on?)")
