# SPDX-License-Identifier: Apache-2.0
"""How well a scenario is replayed, and what following the gNB's files costs, beside their limits.

The telnet server is the tests' stand-in; its delay of an answer is the median that was measured of
a real gNB (58 ms on a busy host) and, for comparison, none. Writes docs/benchmarks/containers.md.
"""

from __future__ import annotations

import importlib.util
import platform
import tempfile
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

from ccu.oai import gnb_files
from ccu.oai.channel import Setting
from ccu.oai.gnb_files import GnbFiles
from ccu.oai.radio_clock import RadioClock
from ccu.oai.replay import Replay
from ccu.oai.telnet import Softmodem

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "docs" / "benchmarks" / "containers.md"
SECONDS = 15.0


def stand_in():
    file = ROOT / "tests" / "oai" / "stand_in" / "modem_telnet.py"
    spec = importlib.util.spec_from_file_location("modem_telnet", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModemTelnet


def replay(delay_s: float, pace: float, folder: Path) -> dict[str, float]:
    """A replay of one direction with what the gNB's connection has to do besides."""
    server = stand_in()(
        "127.0.0.1", 0, "softmodem_gnb> ", [("rfsimu_channel_ue0", -2.0)], pace, delay_s
    )
    modem = Softmodem("127.0.0.1", server._listener.getsockname()[1])
    clock = RadioClock(folder / "radio-time.csv")
    due = {"time": 0.0, "statistics": 0.0}

    def tick() -> None:
        now_s = time.monotonic()
        if now_s >= due["time"]:
            due["time"] = now_s + 1.0
            samples, rate = modem.radio_time()
            clock.read(samples, rate, time.time_ns(), (now_s + time.monotonic()) / 2)
        elif now_s >= due["statistics"]:
            due["statistics"] = now_s + 0.5
            modem.statistics()

    settings = [Setting(20.0, round(-5 + index % 50 / 10, 1)) for index in range(1000)]
    played = Replay(modem, "rfsimu_channel_ue0", settings, clock, folder / "ul.csv", tick)
    played.start()
    time.sleep(SECONDS)
    played.finish()
    late = sorted(played.late_ms)
    modem.close()
    server.close()
    clock.close()
    return {
        "a second of radio": len(late) / (SECONDS * pace),
        "skipped": played.skipped_count / (len(late) + played.skipped_count),
        "p50": late[len(late) // 2],
        "p99": late[int(len(late) * 0.99)],
        "most": late[-1],
    }


def followers(folder: Path) -> float:
    """CPU seconds a second of following three files that are rewritten once a second."""
    gnb_files._WORKING_FOLDERS = (str(folder).lstrip("/"),)
    kept = folder / "kept"
    kept.mkdir()
    over = threading.Event()

    def write() -> None:
        while not over.wait(1.0):
            for name in gnb_files.NAMES:
                (folder / name).write_text("UE 4cba: MAC:    TX 1 RX 1 bytes\n" * 60)

    def cost() -> float:
        began = time.process_time()
        time.sleep(SECONDS)
        return (time.process_time() - began) / SECONDS

    threading.Thread(target=write, daemon=True).start()
    alone = cost()
    followed = GnbFiles(lambda: 1, kept)
    followed.start()
    together = cost()
    followed.finish()
    over.set()
    return together - alone


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            (delay_ms, pace, replay(delay_ms / 1e3, pace, Path(folder)))
            for delay_ms, pace in ((0, 1.0), (58, 1.0), (58, 0.5), (20, 2.0))
        ]
        following = followers(Path(folder))
    model = next(
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    lines = [
        "# Containers: channel replay and followers",
        "",
        f"{datetime.now(timezone.utc):%Y-%m-%d}, {model}, Linux {platform.release()}; "
        f"load {Path('/proc/loadavg').read_text().split()[0]}. The telnet server is a stand-in.",
        "",
        "Asked for: 10 settings a second of radio, within 100 ms of radio time. One direction,",
        "with `rfsimu vtime` once and `o1 stats` twice a second on the same connection. The limit",
        "is the answer's delay.",
        "",
        "| answer takes | radio's pace | settings a s of radio | skipped | p50 late | p99 | most |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {delay} ms | {pace:g} | {it['a second of radio']:.2f} | {it['skipped']:.1%} | "
            f"{it['p50']:.0f} ms | {it['p99']:.0f} ms | {it['most']:.0f} ms |"
            for delay, pace, it in rows
        ),
        "",
        f"Following the gNB's statistics files: {following:.2%} of a core; asked for: under 1 %.",
    ]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n")
    print(RESULT.read_text())


main()
