# SPDX-License-Identifier: Apache-2.0
"""Plays settings into a modem's channel models, paced by the radio's time, and restores them."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ccu.scenarios.oai_channel_model import STEP_S, Setting
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.telnet import Model, Softmodem, TelnetFailed

HEADER = ("utc_ns", "radio_s", "model", "ploss_db", "noise_db", "late_ms", "sent_ms", "ue")
_LONGEST_WAIT_S = 0.05


class ChannelLog:
    """What the models of one direction were set to, as docs/run-directory.md has it."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._file = file.open("w", newline="")
        self._out = csv.writer(self._file)
        self._out.writerow(HEADER)

    def write(self, due_s: float, track: Track, late_ms: float, sent_ms: float) -> None:
        times = (time.time_ns(), f"{due_s:.3f}")
        set_to = (track.model.name, track.now.ploss_db, track.now.noise_db)
        with self._lock:
            self._out.writerow([*times, *set_to, f"{late_ms:.1f}", f"{sent_ms:.1f}", track.ue])

    def close(self) -> None:
        self._file.close()


class Track:
    """One UE's channel in one direction: the model that has it, and its settings in time.

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
        """A scenario shorter than the run begins again, as nr-link plays it."""
        return self._settings[index % len(self._settings)]

    def commands(self, wanted: Setting) -> int:
        """How many it takes to go there."""
        return (wanted.noise_db != self.now.noise_db) + (wanted.ploss_db != self.now.ploss_db)

    def set(self, wanted: Setting) -> None:
        if wanted.noise_db != self.now.noise_db:
            self._modem.modify(self.model.index, "noise_power_dB", wanted.noise_db)
        if wanted.ploss_db != self.now.ploss_db:
            self._modem.modify(self.model.index, "ploss", wanted.ploss_db)
        self.now = wanted

    def restore(self) -> None:
        self.set(self._original)


class Replay:
    """The models of one modem. What comes late is skipped, not queued: the newest setting counts.

    A command takes effect at some instant between its sending and its answer, which is up to some
    60 ms on a busy host: it is sent early by half of what answers take, so that either is near the
    instant at which it is due. `tick(room_s)` is called between settings, with the same connection
    (there is one client at a time) and the seconds that it may take.
    """

    def __init__(
        self,
        modem: Softmodem,
        tracks: Sequence[Track],
        clock: RadioClock,
        log: ChannelLog,
        tick: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._modem = modem
        self._tracks = tracks
        self._clock = clock
        self._log = log
        self._tick = tick
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)
        self.failure: str | None = None
        self.skipped_count = 0
        self.off_ms: list[float] = []
        """For each setting how far from its due instant it took effect at most (radio time)."""

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Ends the replay and restores the models. Raises TelnetFailed if that fails."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        for track in self._tracks:
            track.restore()

    def _run(self) -> None:
        try:
            self._play()
        except TelnetFailed as error:
            self.failure = str(error)

    def _play(self) -> None:
        while (begin_s := self._clock.now_s()) is None and not self._stop.is_set():
            self._tick(_LONGEST_WAIT_S)
            self._stop.wait(0.005)
        index = 0
        while begin_s is not None and not self._stop.is_set():
            room_s = self._room_s(begin_s, index)
            if room_s > 0:
                began_s = time.monotonic()
                self._tick(room_s)
                left_s = room_s - (time.monotonic() - began_s)
                self._stop.wait(min(max(left_s, 0.0), _LONGEST_WAIT_S))
                continue
            self._update(index, begin_s + index * STEP_S)
            # The next that is not yet due, or the one that is due now.
            newest = int((self._now_s() - begin_s) / STEP_S)
            self.skipped_count += max(newest - index - 1, 0)
            index = max(newest, index + 1)

    def _room_s(self, begin_s: float, index: int) -> float:
        """Until the setting has to be sent, in our seconds."""
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


def _find(models: Sequence[Model], name: str) -> Model:
    for model in models:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in models) or "none"
    raise TelnetFailed(f"no channel model {name}; there are {known} (is rfsim's chanmod on?)")
