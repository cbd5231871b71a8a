# SPDX-License-Identifier: Apache-2.0
"""Measure what the plane for policies costs at 1 Gbit/s, and when commands take effect over 106
PRB; write docs/benchmarks/cc.md.

See cc/benchmarks/run. Cost: a flow at a constant rate between two namespaces. The policy's process
is measured by its CPU time, the BPF program by the time that the kernel counts for it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccu.congestion import bpf
from ccu.congestion.policy import program
from ccu.host import policies
from ddu import interpreter

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/benchmarks/cc.md"
POLICY = ROOT / "cc/policies/constant.py"
NAME = "planecost"
CLIENT, SERVER = f"ccbench{os.getpid()}c", f"ccbench{os.getpid()}s"
BPF_STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
RATE_MBPS, COST_S = 1000, 10
PERIODS = ("10ms", "1ms", "0ms")
MOST_CORE = 0.03  # with reports each 10 ms
RUN_S = 20
POLICIES = ("tutorial", "aimd")
MOST_APPLIED_MS = {"p50": 1.0, "p99": 2.0}


@dataclass(frozen=True)
class Cost:
    """The cost of one flow."""

    mbps: float
    reports_per_s: float
    process: float
    """Cores that the policy's process took."""
    kernel: float
    """Cores that the BPF program took."""


def run(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@contextmanager
def two_hosts() -> Iterator[None]:
    """Create two namespaces with a cable."""
    try:
        for name in (CLIENT, SERVER):
            run(f"ip netns add {name}")
        run(f"ip link add c0 netns {CLIENT} type veth peer name s0 netns {SERVER}")
        for name, device, address in ((CLIENT, "c0", "10.97.0.1"), (SERVER, "s0", "10.97.0.2")):
            run(f"ip -n {name} addr add {address}/24 dev {device}")
            run(f"ip -n {name} link set {device} up")
        yield
    finally:
        for name in (CLIENT, SERVER):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextmanager
def loaded(folder: Path, period: str) -> Iterator[subprocess.Popen[str]]:
    """Register the policy's congestion control; yields its loader."""
    binary = folder / "plane.o"
    bpf.compile_object(program.PLANE, binary, program.defines(NAME))
    given = {"rate_mbps": str(RATE_MBPS), "cwnd": "20000", "period": period}
    _, *own = policies.command("run", POLICY, given)
    command = [*interpreter.of_package("ccplane.loader"), binary, NAME, folder, *own]
    loader = subprocess.Popen([*command, "--trace", "trace.csv"], stdout=subprocess.PIPE, text=True)
    assert loader.stdout is not None
    if '"ready"' not in loader.stdout.readline():
        sys.exit("benchmark: the policy's loader did not start")
    try:
        yield loader
    finally:
        loader.send_signal(signal.SIGTERM)
        loader.wait()


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bpf_s() -> float:
    """Return what the kernel counted for the plane's programs."""
    programs = json.loads(run("bpftool prog show --json"))
    return sum(
        one.get("run_time_ns", 0) for one in programs if one.get("name", "").startswith("plane_")
    ) / 1e9  # fmt: skip


def cost(period: str) -> Cost:
    with tempfile.TemporaryDirectory() as folder, loaded(Path(folder), period) as loader:
        children = Path(f"/proc/{loader.pid}/task/{loader.pid}/children").read_text().split()
        policy = int(children[0])
        server = subprocess.Popen(
            ["ip", "netns", "exec", SERVER, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL
        )
        time.sleep(1)
        before = cpu_s(policy), bpf_s()
        said = json.loads(
            run(f"ip netns exec {CLIENT} iperf3 -J -c 10.97.0.2 -C {NAME} -t {COST_S}")
        )
        after = cpu_s(policy), bpf_s()
        server.wait()
        reports = sum(1 for _ in (Path(folder) / "trace.csv").open()) - 1
    seconds = said["end"]["sum_sent"]["seconds"]
    return Cost(
        said["end"]["sum_received"]["bits_per_second"] / 1e6,
        reports / seconds,
        (after[0] - before[0]) / seconds,
        (after[1] - before[1]) / seconds,
    )


@contextmanager
def bpf_stats() -> Iterator[None]:
    """Have the kernel count the run time of BPF programs."""
    before = BPF_STATS.read_text()
    BPF_STATS.write_text("1")
    try:
        yield
    finally:
        BPF_STATS.write_text(before)


def latencies(policy: str, direction: str) -> dict[str, dict[str, float]]:
    """Return what a run over 106 PRB says of the plane."""
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / ".venv/bin/ccu", "run", "--testbed", "emulated", "--cc", f"{policy}.py"]
        chosen = ["--prb", "106", f"--{direction}", "--duration", f"{RUN_S}s", "--no-capture"]
        subprocess.run(
            [*command, *chosen, "--output", folder], check=True, stdout=subprocess.DEVNULL
        )
        (manifest,) = Path(folder).glob("*/run.json")
        implementation = json.loads(manifest.read_text())["cc_implementation"][policy]
    latencies_ms: dict[str, dict[str, float]] = implementation["plane"]
    return latencies_ms


def processor() -> str:
    match = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return match[1] if match else platform.machine()


def page(
    load: float, costs: dict[str, Cost], times: dict[tuple[str, str], dict[str, dict[str, float]]]
) -> str:
    lines = [
        "# The plane for policies",
        "",
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {processor()}, {os.cpu_count()} CPUs, "
        f"Linux {platform.release()}, load {load:.1f} before. "
        "Made by `make bench COMPONENT=cc`.",
        "",
        f"## Cost at {RATE_MBPS} Mbit/s",
        f"The policy `constant` holds one flow at that rate for {COST_S} s between two "
        f"namespaces. Limit with reports each 10 ms: {MOST_CORE:.0%} of a core.",
        "",
        "| time between reports | Mbit/s | reports/s | policy's process, % of a core "
        "| BPF program, % of a core | both |",
        "|---|---|---|---|---|---|",
    ]
    for period, one in costs.items():
        between = "none: each ACK" if period == "0ms" else period.replace("ms", " ms")
        lines.append(
            f"| {between} | {one.mbps:.0f} | {one.reports_per_s:.0f} | {one.process:.1%} "
            f"| {one.kernel:.1%} | {one.process + one.kernel:.1%} |"
        )
    p50, p99 = (f"{MOST_APPLIED_MS[one]:g} ms" for one in ("p50", "p99"))
    lines += [
        "",
        "## When a command takes effect: 106 PRB, reports each 10 ms",
        f"`ccu run --testbed emulated --prb 106` for {RUN_S} s. Limits of report to application: "
        f"{p50} (median), {p99} (99th percentile).",
        "A flow whose window is full has no departures: its command waits for the next ACK, here "
        "for up to 5 ms, the period of the uplink slots.",
        "Overdue: for how long an ACK has found a command that was there and not applied.",
        "",
        "| | report to command, µs: p50, p99, max | report to application, µs: p50, p99, max "
        "| overdue, µs: max |",
        "|---|---|---|---|",
    ]
    for (policy, direction), plane in times.items():
        reported, applied = (
            ", ".join(f"{plane[name][part]:.0f}" for part in ("p50", "p99", "max"))
            for name in ("report_to_command_us", "report_to_applied_us")
        )
        way = {"dl": "downlink", "ul": "uplink"}[direction]
        overdue = f"{plane['overdue_us']['max']:.0f}"
        lines.append(f"| `{policy}.py`, {way} | {reported} | {applied} | {overdue} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if os.geteuid():
        sys.exit("benchmark: namespaces and BPF need root. Run: sudo make bench COMPONENT=cc")
    load = os.getloadavg()[0]
    with two_hosts(), bpf_stats():
        costs = {period: cost(period) for period in PERIODS}
    ways = [(policy, direction) for policy in POLICIES for direction in ("dl", "ul")]
    times = {way: latencies(*way) for way in ways}
    TABLE.write_text(page(load, costs, times))
    print(TABLE.read_text())


if __name__ == "__main__":
    main()
