# SPDX-License-Identifier: Apache-2.0
"""Measure ddu: its peers, its growth and its largest analysis; write the tables.

See ddu/benchmarks/run.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from peers import EVERYTHING, Reading, cpu_s_of, readings

from ddu.analyze import analysis_of
from ddu.readers.packets.split import SplitCapture
from testsupport.gigabit import write_run

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "benchmarks" / "ddu.md"
PACKETS_PER_S = 124_500
"""The rate of a generated capture at 1 Gbit/s: data, and an ACK for every other packet."""
LOSS = 0.0001
LIMIT_CPU_S, LIMIT_GB = 30, 2
ROLES = ("sender", "receiver")
SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Scale:
    """The size of the measurement."""

    peers: int
    packets: tuple[int, ...]
    flows: tuple[int, ...]
    packets_of_flows: int
    runs: tuple[int, ...]


WHOLE = Scale(
    300_000,
    (10**5, 10**6, 10**7, 100 * 2 * PACKETS_PER_S, 3 * 10**7),
    (1, 10, 100, 1000, 10_000),
    300_000,
    (10, 30, 100, 300),
)
QUICK = Scale(50_000, (10**5, 10**6), (1, 10, 100), 50_000, (10, 30))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="Measure little, and do not write docs."
    )
    parser.add_argument("--directory", type=Path, help="Folder for temporary captures.")
    parser.add_argument("--part", choices=PARTS, help="Part to measure; the other sections stay.")
    chosen = parser.parse_args()
    scale = QUICK if chosen.quick else WHOLE
    measured = {
        name: measure(scale, chosen.directory)
        for name, measure in PARTS.items()
        if chosen.part in (None, name)
    }
    if chosen.quick:
        print(_heading() + "".join(measured.values()))
    else:
        DOCUMENT.parent.mkdir(exist_ok=True)
        before = DOCUMENT.read_text() if DOCUMENT.exists() else ""
        DOCUMENT.write_text(_heading() + "".join(_sections(before, measured)))


def _sections(before: str, measured: dict[str, str]) -> Iterator[str]:
    """Yield every part in order: the new measurement, or the document's section."""
    kept = ["## " + text for text in before.split("## ")[1:]]
    for name in PARTS:
        if name in measured:
            yield measured[name]
        else:
            yield from (text for text in kept if text.startswith(TITLES[name]))


@contextmanager
def _generated(where: Path | None, packets: float, flows: int = 1) -> Iterator[tuple[Path, int]]:
    """Yield a run of about so many packets in each capture, and the number in both."""
    with tempfile.TemporaryDirectory(dir=where) as directory:
        run = Path(directory) / "generated"
        yield run, write_run(run, packets / PACKETS_PER_S, 1.0, flows, LOSS)


def _of_peers(scale: Scale, where: Path | None) -> str:
    print("packets per CPU second …", file=sys.stderr)
    with _generated(where, scale.peers) as (run, _):
        file = run / "raw" / "sender.pcap"
        count = int(SplitCapture(file, "native", [], 1500).connections["packets_count"].sum())
        measured = readings(file, count)
    rates = {reading.name: reading.packets_per_cpu_s for reading in measured}
    dpkt = next(rate for name, rate in rates.items() if name.startswith("dpkt") and rate)
    tcptrace = rates.get("tcptrace")
    rows = [_peer(reading, dpkt, tcptrace) for reading in measured]
    return (
        "## Packets per CPU second\n\n"
        f"One file of {count:,} packets: ns pcap, raw IP, 128 bytes of each packet, TCP with "
        "timestamps and SACK.\n\n"
        "| reader | packets per CPU s | times dpkt | times tcptrace |\n|---|---:|---:|---:|\n"
        + "".join(rows)
        + "\nTargets: 50 times dpkt; at least tcptrace / 1.5.\n\n"
    )


def _peer(reading: Reading, dpkt: float, tcptrace: float | None) -> str:
    rate = reading.packets_per_cpu_s
    if rate is None:
        return f"| {reading.name} | | | |\n"
    beside = f"{rate / tcptrace:.2f}" if tcptrace else ""
    return f"| {reading.name} | {rate:,.0f} | {rate / dpkt:.1f} | {beside} |\n"


def _of_packets(scale: Scale, where: Path | None) -> str:
    rows = []
    for packets in scale.packets:
        print(f"growth: {packets} packets …", file=sys.stderr)
        with _generated(where, packets / 2) as (run, count):
            split_s = sum(_split_cpu_s(run / "raw" / f"{role}.pcap") for role in ROLES)
            analyze_s, memory = cpu_s_of([ROOT / ".venv" / "bin" / "ddu", "analyze", run])
        rows.append(
            f"| {count:,} | {split_s:.3f} | {split_s / count * 1e9:.0f} | {analyze_s:.1f} "
            f"| {memory / 1e9:.2f} |\n"
        )
    return (
        "## Growth with packets\n\n"
        "Runs at 1 Gbit/s, both captures: read and split into connections, and all of "
        "`ddu analyze` with tables, figures and report.\n100 s at 1 Gbit/s are some 25 million "
        f"packets (the last row but one), for which {LIMIT_CPU_S} CPU s and {LIMIT_GB} GB are "
        "the limit.\n\n"
        "| packets of both captures | split, CPU s | ns per packet | analyze, CPU s "
        "| most memory, GB |\n|---:|---:|---:|---:|---:|\n" + "".join(rows) + "\n"
    )


def _split_cpu_s(file: Path) -> float:
    begin = time.process_time()
    SplitCapture(file, "native", EVERYTHING, 1500)
    return time.process_time() - begin


def _of_flows(scale: Scale, where: Path | None) -> str:
    rows = []
    for flows in scale.flows:
        print(f"growth: {flows} flows …", file=sys.stderr)
        with _generated(where, scale.packets_of_flows, flows) as (run, count):
            split_s = _split_cpu_s(run / "raw" / "sender.pcap")
            begin = time.process_time()
            analysis_of(run, SECOND_NS)
            cpu_s = time.process_time() - begin
            each_ms = cpu_s / flows * 1e3
            rows.append(
                f"| {flows:,} | {count:,} | {split_s:.2f} | {cpu_s:.2f} | {each_ms:.1f} |\n"
            )
    return (
        "## Growth with flows\n\nThe number of packets is constant, that of flows grows; the "
        "analysis is of both captures, bins of 1 s, without figures. Each flow has a fixed cost, "
        "which dominates with many flows.\n\n"
        "| flows | packets of both captures | split one, CPU s | analysis, CPU s "
        "| analysis, ms per flow |\n|---:|---:|---:|---:|---:|\n" + "".join(rows) + "\n"
    )


def _of_runs(scale: Scale, where: Path | None) -> str:
    """Measure the comparison of many runs, copies of one: each is read separately."""
    rows = []
    with _generated(where, PACKETS_PER_S) as (run, _), tempfile.TemporaryDirectory(dir=where) as to:
        ddu = ROOT / ".venv" / "bin" / "ddu"
        cpu_s_of([ddu, "analyze", run])
        for name in ("sender", "receiver"):
            (run / "raw" / f"{name}.pcap").unlink()
        for count in scale.runs:
            print(f"growth: {count} runs …", file=sys.stderr)
            folder = Path(to) / str(count)
            for index in range(count):
                shutil.copytree(run, folder / f"run-{index}")
            cpu_s, memory = cpu_s_of([ddu, "compare", folder, "--to", Path(to) / "page"])
            rows.append(
                f"| {count:,} | {cpu_s:.1f} | {cpu_s / count * 1e3:.0f} | {memory / 1e9:.2f} |\n"
            )
            shutil.rmtree(folder)
    return (
        "## Growth with runs\n\n`ddu compare` of runs of 1 s that have been analysed: tables, "
        "figures, page.\nThe start of the program dominates the first rows.\n\n"
        "| runs | compare, CPU s | ms per run | most memory, GB |\n|---:|---:|---:|---:|\n"
        + "".join(rows)
        + "\n"
    )


def _heading() -> str:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        "# Benchmarks of ddu\n\n"
        f"Written by `make bench COMPONENT=ddu` on {now:%Y-%m-%d %H:%M} UTC. {_processor()}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}.\nCPU "
        "seconds are user and system, of one process; ratios are more reliable than absolute "
        "values.\nCaptures are generated (`tests/support/testsupport/gigabit.py`).\n\n"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


PARTS = {"peers": _of_peers, "packets": _of_packets, "flows": _of_flows, "runs": _of_runs}
TITLES = {
    "peers": "## Packets per CPU second",
    "packets": "## Growth with packets",
    "flows": "## Growth with flows",
    "runs": "## Growth with runs",
}

if __name__ == "__main__":
    if not shutil.which("tshark") or not shutil.which("tcptrace"):
        print(
            "tshark or tcptrace is missing: setup/system-packages test installs them",
            file=sys.stderr,
        )
    main()
