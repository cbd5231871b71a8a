# SPDX-License-Identifier: Apache-2.0
"""Measure how punctually a scenario is replayed, compared with the limit of the telnet dialogue.

The server is the tests' stand-in; its response time is the median that was measured with a real gNB
(58 ms on a busy host), and other values. It applies a setting at the end of the response time and
records when, so that the stand-in, not the replay, measures the difference to the due time.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from ccu.scenarios.oai_channel_model import STEP_S, Setting
from ccu.testbeds.oai.gnb_queries import GnbQueries
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.replay import ChannelLog, Replay, Track
from ccu.testbeds.oai.telnet import Softmodem
from testsupport.oai.stand_in.modem_telnet import ModemTelnet

SECONDS = 15.0
CASES = ((0, 1.0, 1), (58, 1.0, 1), (58, 0.5, 1), (20, 2.0, 1), (20, 1.0, 3))
"""(response time in ms, pace of the radio, UEs)"""
ABOUT = """\
## Channel replay

The requirement is 10 settings per second of radio time, each within 100 ms of radio time. Each
direction has its own connection; on the measured one, to the gNB, `rfsimu vtime` is also queried
once and `o1 stats` twice a second. The error is the time between the due instant of a setting and
the instant at which it took effect, by the clock of the stand-in. The dialogue allows one command
at a time: with responses of 58 ms it carries 17 per second for all UEs together. The stand-in
acts at the end of its response time, for settings and `vtime` alike. When a real gNB acts between
command and response is not known; its error can be larger by up to half a response time.

| response time | radio pace | UEs | settings per radio second | skipped | error p50 | p99 | max |
|---|---|---|---|---|---|---|---|"""


class Replayed(NamedTuple):
    answer_ms: int
    pace: float
    ues: int
    settings_a_s: float
    skipped_ratio: float
    off_ms: list[float]
    """Radio time between due instant and effect, sorted."""

    def row(self) -> str:
        count = len(self.off_ms)
        p50, p99 = self.off_ms[count // 2], self.off_ms[int(count * 0.99)]
        return (
            f"| {self.answer_ms} ms | {self.pace:g} | {self.ues} | {self.settings_a_s:.2f} | "
            f"{self.skipped_ratio:.1%} | {p50:.0f} ms | {p99:.0f} ms | {self.off_ms[-1]:.0f} ms |"
        )


def replay(answer_ms: int, pace: float, ues: int, folder: Path) -> Replayed:
    """Replay the uplinks, with the other queries on the same connection."""
    models = [(f"rfsimu_channel_ue{ue}", -2.0) for ue in range(ues)]
    server = ModemTelnet("127.0.0.1", 0, "softmodem_gnb> ", models, pace, answer_ms / 1e3)
    modem = Softmodem("127.0.0.1", server._listener.getsockname()[1])
    clock, log = RadioClock(folder / "radio-time.csv"), ChannelLog(folder / "ul.csv")
    questions = GnbQueries(modem, clock, folder)
    # Neighbouring settings differ, so that a value identifies its setting.
    settings = [Setting(20.0, round(-20 + index % 400 / 10, 1)) for index in range(400)]
    tracks = [Track(modem, name, ue, settings) for ue, (name, _) in enumerate(models)]
    played = Replay(modem, tracks, clock, log, questions.ask_one)
    played.start()
    time.sleep(SECONDS)
    played.finish()
    for one in (modem, server, questions, clock, log):
        one.close()
    off_ms = sorted(offsets_ms(server, folder / "ul.csv"))
    count = len(off_ms) / ues
    skipped_ratio = played.skipped_count / (count + played.skipped_count)
    settings_a_s = (1 - skipped_ratio) / STEP_S
    return Replayed(answer_ms, pace, ues, settings_a_s, skipped_ratio, off_ms)


def offsets_ms(server: Any, log: Path) -> list[float]:
    """Return the error of each setting by the clock of the server."""
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    due = {}
    for row in lines:
        due.setdefault((row[2], float(row[4])), float(row[1]))
    errors_ms = []
    for at_s, name, value in itertools.islice(server.applied, len(lines)):
        if (name, value) in due:
            errors_ms.append(abs(server.radio_s(at_s) - due[name, value]) * 1e3)
    return errors_ms


def measure() -> list[str]:
    """Return the table in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [replay(*case, Path(folder)).row() for case in CASES]
    return [ABOUT, *rows]
