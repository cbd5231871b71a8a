# SPDX-License-Identifier: GPL-2.0-only
"""Measure the CPU time of a sending process with Reminis (BPF) relative to CUBIC on this machine.

Two namespaces are connected by a router whose veth is limited by TBF (no netem, so there is no
path delay: RTTs consist of the queue, SIs are as short as possible, which is the most expensive
case). One process has a flow of each congestion control, which send at 0.9 of the link in turns of
a fraction of a second (slices.c), so that other load affects both turns of a pair nearly equally.
Each turn gives the CPU time of the process per gigabyte (user + system, including the kernel's work
on its behalf); the result is the median ratio over all pairs. A second run measures nanoseconds
per ACK and the run time of the BPF programs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

KMOD = Path(__file__).parent.parent
LOADER = (str(KMOD.parent / ".venv/bin/python"), str(KMOD / "loader"))
BPF_STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
TAG = f"kmcpu{os.getpid()}"
SENDER, ROUTER, SINK = (f"{TAG}{letter}" for letter in "src")
SLICES = KMOD / "build" / "slices"
ACK_TIME = KMOD / "build" / "ack_time"
PORT = "5201"  # for which ack_time is built
RESAMPLES = 4000


def run(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@contextmanager
def link(mbit: float) -> Iterator[None]:
    """Create sender, router and sink; remove them at the end in any case."""
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


@contextmanager
def reminis() -> Iterator[None]:
    loader = subprocess.Popen([*LOADER, "run", "--dtt", "20ms"], stdout=subprocess.PIPE, text=True)
    assert loader.stdout is not None
    if not loader.stdout.readline():
        sys.exit("benchmark: the loader did not start")
    try:
        yield
    finally:
        loader.send_signal(signal.SIGTERM)
        loader.wait()


def bpf_costs() -> dict[str, tuple[int, float]]:
    """Return calls and mean nanoseconds of each of our BPF programs since it was loaded."""
    programs = json.loads(run("bpftool prog show --json"))
    return {
        p["name"]: (p["run_cnt"], p["run_time_ns"] / p["run_cnt"])
        for p in programs
        if p.get("name", "").startswith("reminis_bpf") and p.get("run_cnt")
    }


@dataclass(frozen=True)
class Pair:
    """CPU seconds of the sending process per gigabyte in two consecutive turns."""

    cubic: float
    reminis: float

    @property
    def ratio(self) -> float:
        """Reminis relative to CUBIC."""
        return self.reminis / self.cubic


@dataclass(frozen=True)
class Costs:
    """The results of a measurement."""

    pairs: list[Pair]
    ack_ns: dict[str, tuple[int, float]]
    """Number of ACKs and mean nanoseconds of the kernel's `tcp_ack()`, by congestion control."""
    programs_ns: dict[str, tuple[int, float]]
    """Calls and mean nanoseconds, by BPF program."""

    def ratio(self) -> tuple[float, float, float]:
        """Return the median ratio of the pairs, and the bounds of its 95 % bootstrap interval."""
        ratios = [pair.ratio for pair in self.pairs]
        draw = random.Random(1)
        medians = sorted(median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
        return median(ratios), medians[RESAMPLES // 40], medians[-RESAMPLES // 40]


def measure(pairs: int, slice_ms: int, mbit: float) -> Costs:
    """Measure `pairs` of turns of `slice_ms` at 0.9 of `mbit`. Needs root."""
    before = BPF_STATS.read_text()
    with link(mbit), reminis(), sink():
        measured = in_turns(pairs, slice_ms, 0.9 * mbit)
        BPF_STATS.write_text("1")  # costs CPU time itself, as does timing each ACK
        try:
            with ack_timer() as ack_ns:
                in_turns(pairs // 4, slice_ms, 0.9 * mbit)
                return Costs(measured, ack_ns(), bpf_costs())
        finally:
            BPF_STATS.write_text(before)


def in_turns(pairs: int, slice_ms: int, mbit: float) -> list[Pair]:
    """Let CUBIC and Reminis send in turns (slices.c)."""
    words = f"send 10.98.2.1 {PORT} {mbit} {slice_ms} {pairs} cubic reminis"
    output = run(f"ip netns exec {SENDER} {SLICES} {words}")
    turns: dict[int, dict[str, float]] = {}
    for turn in map(json.loads, output.splitlines()):
        turns.setdefault(turn["pair"], {})[turn["cc"]] = turn["cpu_ns"] / turn["bytes"]
    return [Pair(**pair) for pair in turns.values()]


@contextmanager
def sink() -> Iterator[None]:
    """Receive and discard data, one measurement after the other."""
    command = f"while {SLICES} sink {PORT}; do :; done"
    words = ["ip", "netns", "exec", SINK, "sh", "-c", command]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def ack_timer() -> Iterator[Callable[[], dict[str, tuple[int, float]]]]:
    """Time `tcp_ack()` of the flows to the sink, in the same way for all congestion controls.

    Its function returns nothing where the kernel does not allow tracing.
    """
    words = [str(ACK_TIME), f"{ACK_TIME}.bpf.o"]
    timer = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def read() -> dict[str, tuple[int, float]]:
        assert timer.stdin is not None
        assert timer.stdout is not None
        try:
            timer.stdin.write("\n")
            timer.stdin.flush()
        except BrokenPipeError:
            return {}
        totals = json.loads(timer.stdout.readline() or "{}")
        return {cc: (total["acks"], total["ns"] / total["acks"]) for cc, total in totals.items()}

    try:
        read()  # after the first answer it is attached, or has failed
        yield read
    finally:
        timer.kill()
        timer.wait()
