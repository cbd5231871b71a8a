# SPDX-License-Identifier: GPL-2.0-only
"""What a sending process pays for Reminis (BPF), against CUBIC, on this machine.

Two namespaces and a router between them whose veth is limited by TBF (no netem needed, so there
is no path delay: RTTs are the queue's, SIs are as short as they get, which is the dearest case).
iperf3 holds a rate of 0.9 of the link, so that all carry the same bytes. CUBIC and Reminis take
turns; each turn tells the CPU time of the sending process (user + system, with what the kernel
does on its behalf) per gigabyte. The BPF programs' own run time comes from the kernel's BPF
statistics.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOADER = Path(__file__).parent.parent / "build" / "reminis-bpf"
BPF_STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
TAG = f"kmcpu{os.getpid()}"
SENDER, ROUTER, SINK = (f"{TAG}{letter}" for letter in "src")
PORT = "5209"


def run(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@contextmanager
def link(mbit: float) -> Iterator[None]:
    """Sender, router and sink; removed at the end, whatever happens."""
    names = (SENDER, ROUTER, SINK)
    try:
        for name in names:
            run(f"ip netns add {name}")
        for near, device, peer, subnet in ((SENDER, "s0", "r0", 1), (SINK, "c0", "r1", 2)):
            run(f"ip link add {device} netns {near} type veth peer name {peer} netns {ROUTER}")
            run(f"ip -n {near} addr add 10.98.{subnet}.1/24 dev {device}")
            run(f"ip -n {ROUTER} addr add 10.98.{subnet}.2/24 dev {peer}")
            run(f"ip -n {near} link set {device} up")
            run(f"ip -n {ROUTER} link set {peer} up")
            run(f"ip -n {near} route add default via 10.98.{subnet}.2")
        run(f"ip netns exec {ROUTER} sysctl -qw net.ipv4.ip_forward=1")
        limit = f"rate {mbit}mbit burst 256k limit 4m"
        run(f"ip netns exec {ROUTER} tc qdisc add dev r1 root tbf {limit}")
        yield
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def turn(cc: str, seconds: int, mbit: float) -> tuple[float, float]:
    """CPU seconds of the sender per gigabyte, and the rate in Mbit/s."""
    server = subprocess.Popen(
        ["ip", "netns", "exec", SINK, "iperf3", "-s", "-1", "-p", PORT], stdout=subprocess.DEVNULL
    )
    time.sleep(0.3)
    try:
        text = run(
            f"ip netns exec {SENDER} iperf3 -c 10.98.2.1 -p {PORT} -C {cc} -t {seconds}"
            f" -b {mbit}M --json"
        )
        end: dict[str, Any] = json.loads(text)["end"]
    finally:
        server.terminate()
        server.wait()
    received = end["sum_received"]["bytes"]
    cpu_s = end["cpu_utilization_percent"]["host_total"] / 100 * end["sum_sent"]["seconds"]
    return cpu_s / (received / 1e9), received * 8e-6 / end["sum_received"]["seconds"]


@contextmanager
def reminis() -> Iterator[None]:
    loader = subprocess.Popen([LOADER, "run", "--dtt", "20ms"], stdout=subprocess.PIPE, text=True)
    assert loader.stdout is not None
    if not loader.stdout.readline():
        sys.exit("benchmark: reminis-bpf did not start")
    try:
        yield
    finally:
        loader.send_signal(signal.SIGTERM)
        loader.wait()


def bpf_costs() -> dict[str, tuple[int, float]]:
    """Calls and mean nanoseconds of each of our programs since it was loaded."""
    programs = json.loads(run("bpftool prog show --json"))
    return {
        p["name"]: (p["run_cnt"], p["run_time_ns"] / p["run_cnt"])
        for p in programs
        if p.get("name", "").startswith("reminis_bpf") and p.get("run_cnt")
    }


@dataclass
class Costs:
    """Each turn's CPU seconds of the sender per gigabyte, and nanoseconds of each BPF program."""

    cubic: list[float]
    reminis: list[float]
    programs_ns: dict[str, tuple[int, float]]

    @property
    def ratios(self) -> list[float]:
        """Reminis to CUBIC, round by round."""
        return [r / c for r, c in zip(self.reminis, self.cubic, strict=True)]


def measure(rounds: int, seconds: int, mbit: float) -> Costs:
    """`rounds` turns of `seconds` of each, at 0.9 of `mbit`. Root only."""
    costs = Costs([], [], {})
    before = BPF_STATS.read_text()
    with link(mbit), reminis():
        for n in range(rounds):
            for cc in ("cubic", "reminis") if n % 2 else ("reminis", "cubic"):
                cost, rate = turn(cc, seconds, 0.9 * mbit)
                getattr(costs, cc).append(cost)
                print(f"round {n + 1} {cc:8} {cost:.4f} CPU s/GB at {rate:.0f} Mbit/s", flush=True)
        BPF_STATS.write_text("1")
        try:
            turn("reminis", seconds, 0.9 * mbit)
            costs.programs_ns = bpf_costs()
        finally:
            BPF_STATS.write_text(before)
    return costs
