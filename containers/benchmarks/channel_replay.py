# SPDX-License-Identifier: Apache-2.0
"""How punctually a scenario is replayed, beside the limit that the telnet dialogue itself sets.

The server is the tests' stand-in; its delay of an answer is the median that was measured of a real
gNB (58 ms on a busy host) and others. It acts at the end of the delay, and notes when: how far that
is from when it was due is told by the stand-in, not by the replay.
"""

from __future__ import annotations

import importlib.util
import itertools
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from ccu.testbeds.oai.channel import STEP_S, Setting
from ccu.testbeds.oai.gnb_questions import GnbQuestions
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.replay import ChannelLog, Replay, Track
from ccu.testbeds.oai.telnet import Softmodem

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 15.0
CASES = ((0, 1.0, 1), (58, 1.0, 1), (58, 0.5, 1), (20, 2.0, 1), (20, 1.0, 3))
"""(answer takes ms, radio's pace, UEs)"""
ABOUT = """\
## Channel replay

Asked for: 10 settings a second of radio, within 100 ms of radio time. Each direction has a
connection; on this one, the gNB's, `rfsimu vtime` is asked once and `o1 stats` twice a second
besides. Off: from the instant at which a setting was due to that at which it took effect, by the
stand-in's own clock. The dialogue allows one command at a time: with answers of 58 ms it carries
17 a second, of all UEs together. The stand-in acts at the end of its delay, for settings and for
`vtime` alike; where a real gNB acts between question and answer is not known, and `off` is then up
to half of an answer more.

| answer takes | radio's pace | UEs | settings a second of radio | skipped | off p50 | p99 | most |
|---|---|---|---|---|---|---|---|"""


class Replayed(NamedTuple):
    answer_ms: int
    pace: float
    ues: int
    settings_a_s: float
    skipped_ratio: float
    off_ms: list[float]
    """Between due and effect, in radio time, sorted."""

    def row(self) -> str:
        count = len(self.off_ms)
        p50, p99 = self.off_ms[count // 2], self.off_ms[int(count * 0.99)]
        return (
            f"| {self.answer_ms} ms | {self.pace:g} | {self.ues} | {self.settings_a_s:.2f} | "
            f"{self.skipped_ratio:.1%} | {p50:.0f} ms | {p99:.0f} ms | {self.off_ms[-1]:.0f} ms |"
        )


def stand_in() -> Any:
    file = ROOT / "tests" / "oai" / "stand_in" / "modem_telnet.py"
    spec = importlib.util.spec_from_file_location("modem_telnet", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModemTelnet


def replay(answer_ms: int, pace: float, ues: int, folder: Path) -> Replayed:
    """A replay of the uplinks, with what is asked on the same connection besides."""
    models = [(f"rfsimu_channel_ue{ue}", -2.0) for ue in range(ues)]
    server = stand_in()("127.0.0.1", 0, "softmodem_gnb> ", models, pace, answer_ms / 1e3)
    modem = Softmodem("127.0.0.1", server._listener.getsockname()[1])
    clock, log = RadioClock(folder / "radio-time.csv"), ChannelLog(folder / "ul.csv")
    questions = GnbQuestions(modem, clock, folder)
    # Each differs from those around it, so that a value tells which setting it is.
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
    """By the server's own clock: begin is when its radio had the first setting's due time."""
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    due = {}
    for row in lines:
        due.setdefault((row[2], float(row[4])), float(row[1]))
    found = []
    for at_s, name, value in itertools.islice(server.applied, len(lines)):
        if (name, value) in due:
            found.append(abs(server.radio_s(at_s) - due[name, value]) * 1e3)
    return found


def measure() -> list[str]:
    """The table, in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [replay(*case, Path(folder)).row() for case in CASES]
    return [ABOUT, *rows]
