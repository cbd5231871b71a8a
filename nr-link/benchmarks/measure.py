# SPDX-License-Identifier: Apache-2.0
"""Measure nr-link, and write docs/benchmarks/nr-link.md.

The limit of a link on this machine, a raw copy between two TUN devices, is measured in the same
run.
"""

from __future__ import annotations

import csv
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import virtual
from links import FOUR_LAYER_ELEMENTS, TDD, carrier, given, mmwave, peak_mbps, radio
from testbed import Measured, Testbed, testbed

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "docs/benchmarks/nr-link.md"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
NR_LINK = TARGET / "release/nr-link"
MODEL = TARGET / "model.jsonl"
SAMPLES = TARGET / "channel-emulator.jsonl"
SECONDS = 5
IP_SHARE = 1500 / 1448
"""IP bytes of each byte of TCP payload."""
SNAPLEN_BYTES = 128


_HEAD = """# nr-link: benchmarks

{about} `make bench COMPONENT=nr-link` writes this file.

Rates are of TCP payload, by iperf3, which has the other core. nr-link's share of a core includes
the receiver's TCP, which runs in the write to its device; so does that of the raw copy, and
ratios are between Gbit/s a core. Timing: how late the latest packet of a hundred left (bar: 150 µs
on an idle host), and the run's verdict. Where three numbers are in brackets, the row is the
median run of three. Peaks are those of TS 38.306 clause 4.1.2 with the overhead that
docs/nr-link-model.md states; block sizes are rounded, so that a peak can be exceeded.

At 106 PRB the copy hands over whole super-packets of a millisecond; the link hands over what each
slot carried, and gets an ACK for it: some 4,700 writes a second. Of its time a third is what the
hosts do within these writes (TCP, the captures, waking the receiver), an eighth is its own falling
asleep and waking, a quarter its own code (perf, in a virtual machine, where each wake leaves the
guest).

"""


class Row(NamedTuple):
    """A row of the table."""

    measure: str
    bar: str
    here: str
    limit: str = ""
    """The comparison with the raw copy, or with the configured rate."""
    timing: str = ""


def main() -> None:
    """Build as who we are, measures as root, writes."""
    if len(sys.argv) == 1:
        prepared = [str(Path(__file__).resolve()), _build()]
        as_root = ["sudo", "-E", "env", f"PATH={os.environ['PATH']}"] if os.geteuid() else ["env"]
        os.execvp(as_root[0], [*as_root, sys.executable, *prepared])
    said = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    copies = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    if not copies:
        sys.exit(f"benchmark: {said.strip()}")  # why the machine cannot
    raw, raw_both = (
        next(copy for copy in copies if copy["copy"] == name)
        for name in ("raw", "raw, 106 PRB both ways")
    )
    rows = [
        Row("raw copy from TUN to TUN, the limit", "", _rate(raw["mbps"], raw["cpu_ratio"])),
        *_given_rows(raw),
        *_radio_rows(),
        *_both_ways_rows(raw_both),
    ]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(_document(rows, _model_rows(), _emulator_rows(), _explained_rows()))
    print(OUT.read_text())


def _build() -> str:
    """Build nr-link, runs the model's benchmark, and gives the program of the raw copy."""
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "-p", "nr-link"], check=True, cwd=ROOT
    )
    MODEL.write_text(_cargo_bench("-p", "nr-link-model", "--bench", "slots"))
    SAMPLES.write_text(_cargo_bench("-p", "nr-link-channel-emulator", "--bench", "samples"))
    messages = _cargo_bench("-p", "nr-link", "--bench", "throughput", "--no-run")
    made = [json.loads(line) for line in messages.splitlines() if line.startswith("{")]
    return next(
        str(message["executable"])
        for message in made
        if message.get("executable") and message["target"]["name"] == "throughput"
    )


def _cargo_bench(*arguments: str) -> str:
    command = ["cargo", "bench", "--quiet", "--message-format=json", *arguments]
    return subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout


def _given_rows(raw: dict[str, float]) -> list[Row]:
    limit = raw["mbps"] / raw["cpu_ratio"]
    rows = []
    for name, captured in (("", False), (", captures on", True)):
        run = _measure(lambda bed: given(bed.folder, 100_000, 20_000_000), "-Z", captured=captured)
        per_core = run.mbps["dl"] / run.summary["cpu_ratio"]
        bar = "" if captured else "≥ 10 Gbit/s, ratio ≥ 0.4"
        here = _rate(run.mbps["dl"], run.summary["cpu_ratio"])
        measure = f"one TCP flow, no limit but the core, 20 ms RTT, 20 MB{name}"
        rows.append(Row(measure, bar, here, f"{per_core / limit:.2f}", _timing(run)))
    ten = _measure(lambda bed: given(bed.folder, 10_000, 20_000_000), "-Z")
    full = 10_000 / IP_SHARE
    here = _rate(ten.mbps["dl"], ten.summary["cpu_ratio"])
    share = f"{ten.mbps['dl'] / full:.3f} of the rate"
    rows.append(Row("constant 10 Gbit/s, 20 ms RTT, 20 MB", "", here, share, _timing(ten)))
    rss = f"{max(ten.rss_mb, run.rss_mb):.0f} MB"
    rows.append(Row("resident memory at 10 Gbit/s, 20 MB buffers", "< 100 MB", rss))
    for cc in ("cubic", "bbr"):
        measured = partial(_measure, lambda bed: given(bed.folder, 1000, 2_500_000), cc=cc)
        one, timing = _thrice(measured, "delivery_late_p99_us")
        share = f"{one.mbps['dl'] / (1000 / IP_SHARE):.4f} of the rate"
        here = _rate(one.mbps["dl"], one.summary["cpu_ratio"])
        measure = f"constant 1 Gbit/s, 10 ms each way, buffer of 1 BDP, {cc}"
        rows.append(Row(measure, "≥ 0.99", here, share, f"{_timing(one)} ({timing})"))
    return rows


def _radio_rows() -> list[Row]:
    rows = []
    for name, duplex in (("FDD", "fdd"), ("TDD", TDD)):
        peak = peak_mbps(273, 4, 1, FOUR_LAYER_ELEMENTS[name])
        wide = carrier(273, 4, "256qam", duplex)
        for captured in (False, True):
            run = _measure(_at_45_db(wide), "-Z", captured=captured)
            measure = f"273 PRB, 4 layers, 256QAM, {name}{', captures on' if captured else ''}"
            here = _rate(run.mbps["dl"], run.summary["cpu_ratio"])
            limit = f"MAC {run.mac_mbps / peak:.3f} of TS 38.306's peak, {peak:.0f} Mbit/s"
            rows.append(Row(measure, "≥ 0.97", here, limit, _timing(run)))
    for captured in (False, True):
        run = _measure(lambda bed: radio(bed.folder, mmwave(8), 45), "-Z", captured=captured)
        measure = f"mmWave, 8 carriers of 264 PRB, 2 layers{', captures on' if captured else ''}"
        here = _rate(run.mbps["dl"], run.summary["cpu_ratio"])
        rows.append(Row(measure, "≥ 10 Gbit/s", here, "the core is the limit", _timing(run)))
    return rows


def _both_ways_rows(raw: dict[str, float]) -> list[Row]:
    narrow = carrier(106, 1, "64qam", TDD)
    measured = partial(
        _measure, lambda bed: radio(bed.folder, narrow, 20), "--bidir", captured=True
    )
    both, shares = _thrice(measured, "cpu_ratio")
    rates = f"{both.mbps['dl']:.0f} + {both.mbps['ul']:.0f} Mbit/s"
    share = both.summary["cpu_ratio"]
    limit = f"{share / raw['cpu_ratio']:.1f} times the copy"
    copied = f"{raw['cpu_ratio']:.3f} of a core, {raw['mbps']:.0f} Mbit/s"
    here = f"{share:.3f} of a core ({shares}), {rates}"
    measure = "106 PRB, TCP both ways, captures on"
    many = _sixty_four(narrow)
    carried = f"{many.summary['cpu_ratio']:.2f} of a core, {many.mbps['dl']:.0f} Mbit/s"
    return [
        Row("raw copy that wakes once a slot, as much TCP both ways, captures on", "", copied),
        Row(measure, "< 0.10 of a core", here, limit, _timing(both)),
        Row("106 PRB, 64 UEs with a TCP flow each", "real time", carried, "", _timing(many)),
    ]


def _sixty_four(carrier: dict[str, Any]) -> Measured:
    with testbed() as bed:
        return bed.measure_many(NR_LINK, radio(bed.folder, carrier, 20), SECONDS, ues=64)


def _at_45_db(wide: dict[str, Any]) -> Callable[[Testbed], dict[str, Any]]:
    """Return a configuration in which no block of the highest MCS fails."""
    return lambda bed: radio(bed.folder, wide, 45)


class Run(NamedTuple):
    """The results of a run, and its MAC's rate in the steady state."""

    mbps: dict[str, float]
    summary: dict[str, Any]
    rss_mb: float
    mac_mbps: float


def _measure(
    config: Callable[[Testbed], dict[str, Any]],
    *more: str,
    cc: str = "cubic",
    captured: bool = False,
) -> Run:
    with testbed() as bed:
        if captured:
            _capture(bed)
        options = ("-O", "1", "-C", cc, *more)
        measured: Measured = bed.measure(NR_LINK, config(bed), SECONDS, *options)
        return Run(
            measured.mbps, measured.summary, measured.rss_mb, _mac_mbps(bed.folder / "mac.csv")
        )


def _thrice(measure: Callable[[], Run], key: str) -> tuple[Run, str]:
    """Return the median of three runs by a number of the summary, and all three numbers."""
    runs = sorted((measure() for _ in range(3)), key=lambda run: float(run.summary[key]))
    return runs[1], ", ".join(f"{run.summary[key]:.3g}" for run in runs)


def _capture(bed: Testbed) -> None:
    """Capture headers at both endpoints, as ccu does."""
    for netns in (bed.server, bed.ue):
        file = bed.folder / f"{netns}.pcap"
        dump = f"tcpdump -i any -n -s {SNAPLEN_BYTES} -B 65536 -w {file} 2>/dev/null"
        bed.start(netns, "sh", "-c", f"exec {dump}")
    time.sleep(0.5)


def _mac_mbps(file: Path) -> float:
    """Return the rate of downlink transport blocks in the second half of the traffic."""
    with file.open() as lines:
        rows = [(int(row["utc_ns"]), float(row["mac_dl_bytes"])) for row in csv.DictReader(lines)]
    busy = [pair for before, pair in pairwise(rows) if pair[1] > before[1]]
    first, last = busy[len(busy) // 2], busy[-1 - len(busy) // 10]
    return (last[1] - first[1]) * 8e3 / (last[0] - first[0])


def _model_rows() -> list[Row]:
    """Return the rows of the model without I/O, in slots per second of processor time."""
    slots_per_s = {case["case"]: case["per_s"] for case in _cases(MODEL)}
    rows = []
    for load in ("idle", "saturated"):
        for ues in (1, 8, 64):
            here = slots_per_s[f"slots/{load}/{ues}"]
            bar = "≥ 1 (real time)" if ues == 64 and load == "saturated" else ""
            measure = f"model alone, 106 PRB, {ues} UEs, {load}"
            times = f"{here / 2000:.1f} times real time"
            rows.append(Row(measure, bar, f"{here:,.0f} slots a second", times))
    one = slots_per_s["cells/one"]
    for name, cells, bar in (
        ("two cells", "two", "≤ 1.5 times one"),
        ("two cells, neighbour load 0.5", "two, load 0.5", ""),
    ):
        here = slots_per_s[f"cells/{cells}"]
        measure = f"model alone, 106 PRB, 1 UE, saturated, {name}"
        times = f"{one / here:.2f} times one cell"
        rows.append(Row(measure, bar, f"{here:,.0f} slots a second", times))
    return rows


def _emulator_rows() -> list[Row]:
    """Return the rows of the channel emulator, in samples per second of processor time."""
    rows = []
    for case in _cases(SAMPLES):
        bar = "≥ 4 times 61.44 MS/s" if case["case"] == "four taps at samples, noise" else ""
        here = f"{case['msamples_per_s']:.0f} MS/s on a core"
        times = f"{case['real_time']:.2f} times 61.44 MS/s"
        times += f", {case['of_plain_loop']:.2f} of the plain loop"
        rows.append(Row(f"channel emulator, {case['case']}", bar, here, times))
    return rows


def _cases(file: Path) -> list[dict[str, Any]]:
    """Return what a benchmark printed, among the messages of cargo."""
    lines = (line for line in file.read_text().splitlines() if line.startswith("{"))
    return [one for one in map(json.loads, lines) if "case" in one]


def _explained_rows() -> list[Row]:
    """Return the rows of runs in virtual time whose delays are explained (docs/why.md)."""
    rows = []
    for link in ("24 PRB", "106 PRB"):
        plain, explained = virtual.least(link, seconds=20)
        here = f"{explained['cpu_s']:.2f} s of CPU"
        times = f"{explained['cpu_s'] / plain['cpu_s']:.2f} times that of the plain run"
        rows.append(Row(f"CUBIC over {link}, 20 s, delays explained", "≤ 1.30 times", here, times))
    return rows


def _rate(mbps: float, cpu_ratio: float) -> str:
    return f"{mbps / 1000:.2f} Gbit/s on {cpu_ratio:.2f} of a core"


def _timing(run: Run | Measured) -> str:
    return f"{run.summary['delivery_late_p99_us']:.0f} µs, {run.summary['verdict']}"


def _document(
    measured: list[Row], model: list[Row], emulator: list[Row], explained: list[Row]
) -> str:
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    cpu = models[0] if models else platform.machine()
    load = os.getloadavg()[2]
    about = (
        f"{time.strftime('%Y-%m-%d')}, {cpu}, {os.cpu_count()} cores, Linux {platform.release()}, "
        f"load over the last 15 minutes {load:.1f}."
    )
    head = _HEAD.format(about=about)
    tables = {
        "The model alone": model,
        "The channel emulator": emulator,
        "Explained delays in virtual time": explained,
    }
    parts = [f"\n## {title}\n\n{_table(rows)}" for title, rows in tables.items()]
    return head + _table(measured) + "".join(parts)


def _table(rows: list[Row]) -> str:
    lines = ["| measure | bar | here | against limit or rate | timing |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


if __name__ == "__main__":
    main()
