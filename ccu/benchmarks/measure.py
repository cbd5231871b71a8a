# SPDX-License-Identifier: Apache-2.0
"""Measure the time of ccu and of a campaign's report beyond the traffic; write
docs/benchmarks/ccu.md.

See ccu/benchmarks/run.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import copies
from rich.console import Console

from ccu.campaigns import definition, display
from ccu.campaigns.cells import cells
from ccu.campaigns.engines import Outcome
from ccu.campaigns.folder import Folder
from ccu.campaigns.runner import Work

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / "bin"
TABLE = ROOT / "docs" / "benchmarks" / "ccu.md"
# In real time: what is beyond the traffic is measured.
RUN = (BIN / "ccu", "run", "--testbed", "emulated", "--cc", "cubic")
RUNS, TRAFFIC_S = 5, 2
CELLS, SEEDS = 100_000, 1000
REPORTED, REPORTED_S = 1000, 10

PLAN = f"""\
title: A hundred thousand runs
factors:
  cc: [cubic, reno]
  prb: [24, 51, 78, 106, 162]
  buffer: [100pkt, 200pkt, 400pkt, 800pkt, 1600pkt, 3200pkt, 6400pkt, 12800pkt, 25600pkt, 51200pkt]
repeats: {SEEDS}
"""


def took_s(command: list[str]) -> float:
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def overhead_s(folder: Path) -> tuple[float, float]:
    """Return the time beyond the traffic: of one command, and of a run within a campaign."""
    alone = [*map(str, RUN), "--duration", f"{TRAFFIC_S}s", "--output", str(folder)]
    single = [took_s(alone) for _ in range(RUNS)]
    file = folder / "overhead.yaml"
    file.write_text(
        f"title: x\nbase: {{testbed: emulated, duration: {TRAFFIC_S}s}}\nfactors: {{cc: [cubic]}}\n"
        f"repeats: {RUNS}\nretries: 20\n"
    )
    took_s([str(BIN / "ccu"), "campaign", "run", str(file), "--output", str(folder)])
    within = []
    for manifest in folder.glob("campaign-overhead-only/runs/*/*/run.json"):
        times = json.loads(manifest.read_text())["time"]
        within.append((times["stop_utc_ns"] - times["start_utc_ns"]) / 1e9)
    return median(single) - TRAFFIC_S, median(within) - TRAFFIC_S


def plan_s(folder: Path) -> float:
    file = folder / "many.yaml"
    file.write_text(PLAN)
    return took_s([str(BIN / "ccu"), "campaign", "plan", str(file)])


def status_s(folder: Path) -> float:
    """Return the time of `ccu campaign status` for a campaign with all runs done."""
    file = folder / "many.yaml"
    file.write_text(PLAN.replace(f"repeats: {SEEDS}", f"repeats: {SEEDS // 10}"))
    made = Folder.make(folder / "campaign-many-only", definition.read(file))
    source = next(folder.glob("campaign-overhead-only/runs/*/*/run.json")).read_text()
    for cell in cells(made.campaign):
        run = made.prepare(cell) / "run"
        run.mkdir()
        (run / "run.json").write_text(source)
    return took_s([str(BIN / "ccu"), "campaign", "status", str(made.path)])


def after_a_run_s(folder: Path) -> float:
    """Return the time of ccu after each run of such a campaign, shown on a terminal."""
    work = Work(Folder.open(folder / "campaign-many-only"), {"cubic", "reno"})
    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=50)
    with display.shown(work, console) as listener:
        began = time.monotonic()
        for cell in work.cells[:RUNS]:
            listener.started(cell)
            work.update(cell)
            listener.ended(Outcome(cell, None))
        return (time.monotonic() - began) / RUNS


def quic_s(folder: Path) -> float:
    """Return the CPU time of 10 virtual seconds with a flow of QUIC over 106 PRB, of the run with
    the least: others on the machine only make it more."""
    words = ("--testbed", "virtual", "--traffic", "quic", "--dl", "--prb", "106", "--no-report")
    command = [str(BIN / "ccu"), "run", *words, "--scenario", "static", "--duration", "10s"]
    for _ in range(RUNS):
        took_s([*command, "--output", str(folder / "quic")])
    accounts = [json.loads(one.read_text()) for one in folder.glob("quic/*/raw/virtual.json")]
    return min(10 * float(one["cpu_s"]) / float(one["virtual_s"]) for one in accounts)


def report_s(folder: Path) -> float:
    """Return the time of `ddu campaign report` over analysed runs."""
    command = [*RUN, "--duration", f"{REPORTED_S}s", "--output", folder / "one"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (source,) = (folder / "one").iterdir()
    subprocess.run([BIN / "ddu", "analyze", source], check=True, stdout=subprocess.DEVNULL)
    copies.of_one_run(source, folder / "copies", REPORTED)
    return took_s([str(BIN / "ddu"), "campaign", "report", str(folder / "copies")])


def main() -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="ccu-bench-") as name:
        folder = Path(name)
        single, within = overhead_s(folder)
        rows = [
            (f"`ccu run`, beyond {TRAFFIC_S} s of traffic, start of Python included", single, 3),
            ("a run within a campaign, beyond its traffic", within, 3),
            (f"`ccu campaign plan` of {CELLS:,} runs", plan_s(folder), 5),
            (f"`ccu campaign status` of {CELLS // 10:,} runs that are done", status_s(folder), 5),
            (
                "`ccu` after each run, with its display",
                after_a_run_s(folder),
                0.1,
            ),
            (
                f"`ddu campaign report` over {REPORTED:,} runs of {REPORTED_S} s, four figures",
                report_s(folder),
                60,
            ),
            (
                "CPU of 10 virtual seconds with a flow of QUIC over 106 PRB, least",
                quic_s(folder),
                1,
            ),
        ]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    lines = [
        "# ccu and campaigns",
        "",
        f"{time.strftime('%Y-%m-%d')}, {processor[1] if processor else platform.machine()}, "
        f"Linux {platform.release()}; medians of {RUNS} runs; load average before it "
        f"{load:.1f}. Written by `make bench COMPONENT=ccu`.",
        "",
        "| | s | bar (s) | ratio |",
        "|---|---|---|---|",
        *(f"| {what} | {value:.2g} | {bar} | {value / bar:.2f} |" for what, value, bar in rows),
        "",
        "No paper and no standard sets these bars: they are the project's own.",
        f"The largest of these processes took {memory:.0f} MB.",
    ]
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
