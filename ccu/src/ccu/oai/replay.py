# SPDX-License-Identifier: Apache-2.0
"""Plays settings into one modem's channel model, paced by the radio's time, and restores it."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ccu.oai.channel import STEP_S, Setting
from ccu.oai.radio_clock import RadioClock
from ccu.oai.telnet import Model, Softmodem, TelnetFailed

HEADER = ("utc_ns", "radio_s", "model", "ploss_db", "noise_db", "late_ms")


class Replay:
    """One direction. What comes late is skipped, not queued: the newest setting counts.

    `tick` is called between updates with the same connection (there is one client at a time).
    """

    def __init__(
        self,
        modem: Softmodem,
        model_name: str,
        settings: Sequence[Setting],
        clock: RadioClock,
        file: Path,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._modem = modem
        self._model = _find(modem.models(), model_name)
        self._settings = settings
        self._clock = clock
        self._tick = tick
        self._stop = threading.Event()
        self._file = file.open("w", newline="")
        self._out = csv.writer(self._file)
        self._out.writerow(HEADER)
        self._now: Setting = Setting(self._model.ploss_db, self._model.noise_db)
        self._thread = threading.Thread(target=self._run, name=f"replay {model_name}", daemon=True)
        self.failure: str | None = None
        self.skipped_count = 0
        self.late_ms: list[float] = []

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Ends the replay and restores the model. Raises TelnetFailed if that fails."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        try:
            self._set(Setting(self._model.ploss_db, self._model.noise_db))
        finally:
            self._file.close()

    def _run(self) -> None:
        try:
            self._play()
        except TelnetFailed as error:
            self.failure = str(error)

    def _play(self) -> None:
        begin_s: float | None = None
        last = -1
        ticked = False
        while not self._stop.is_set():
            now_s = self._clock.now_s()
            begin_s = now_s if begin_s is None else begin_s
            index = -1 if now_s is None or begin_s is None else int((now_s - begin_s) / STEP_S)
            if begin_s is None or index <= last:
                # There is time until the next setting: the rest of the questions go here.
                if not ticked:
                    self._tick()
                ticked = True
                self._stop.wait(0.005)
                continue
            ticked = False
            self.skipped_count += index - last - 1
            last = index
            # A scenario shorter than the run begins again, as nr-link plays it.
            self._update(self._settings[index % len(self._settings)], begin_s + index * STEP_S)

    def _update(self, setting: Setting, due_s: float) -> None:
        self._set(setting)
        late_ms = ((self._clock.now_s() or due_s) - due_s) * 1e3
        self.late_ms.append(late_ms)
        self._out.writerow(
            [
                *(time.time_ns(), f"{due_s:.3f}", self._model.name),
                *(setting.ploss_db, setting.noise_db, f"{late_ms:.1f}"),
            ]
        )

    def _set(self, setting: Setting) -> None:
        if setting.noise_db != self._now.noise_db:
            self._modem.modify(self._model.index, "noise_power_dB", setting.noise_db)
        if setting.ploss_db != self._now.ploss_db:
            self._modem.modify(self._model.index, "ploss", setting.ploss_db)
        self._now = setting


def _find(models: Sequence[Model], name: str) -> Model:
    for model in models:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in models) or "none"
    raise TelnetFailed(f"no channel model {name}; there are {known} (is rfsim's chanmod on?)")
