#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare Linux's TCP in virtual time with ns-3's own TCP models over the same plain link.

Usage: nr-link/validation/ns3.py      needs g++ and Debian's package libns3-dev

Prints a Markdown table with a row for each congestion control.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ddu import open_run

_HERE = Path(__file__).resolve().parent
_CCU = _HERE.parents[1] / ".venv/bin/ccu"
_RATE_MBPS = 100
_RTT_MS = 20
# Twice the bandwidth-delay product.
_QUEUE_PACKETS = 334
_SECONDS = 60
_PACKET_BITS = 1500 * 8
_NS3_NAMES = {"cubic": "Cubic", "vegas": "Vegas", "bbr": "Bbr", "reno": "LinuxReno"}
_LIBRARIES = ("applications", "internet", "network", "core", "point-to-point", "traffic-control")


@dataclass(frozen=True)
class Result:
    """The result of one implementation."""

    throughput_mbps: float
    """Payload from the start to the end."""
    queue_mean_ms: float
    queue_p95_ms: float
    lost: int


def build(folder: Path, name: str, libraries: Sequence[str]) -> Path:
    """Compile the ns-3 program ns3/NAME.cc with ns-3's `libraries`; return it."""
    program = folder / name
    source = _HERE / f"ns3/{name}.cc"
    libraries = [f"-lns3-{library}" for library in libraries]
    subprocess.run(["g++", "-O2", "-std=c++17", "-o", program, source, *libraries], check=True)
    return program


def in_ns3(program: Path, cc: str) -> Result:
    arguments = [_NS3_NAMES[cc], _RATE_MBPS, _RTT_MS, _QUEUE_PACKETS, _SECONDS]
    said = subprocess.run([program, *map(str, arguments)], capture_output=True, check=True)
    result = json.loads(said.stdout)
    queue_ms = np.asarray(result["queue_packets"]) * _PACKET_BITS / (_RATE_MBPS * 1e3)
    return Result(
        result["received_bytes"] * 8e-6 / _SECONDS,
        float(queue_ms.mean()),
        float(np.percentile(queue_ms, 95)),
        result["dropped_packets"],
    )


def in_linux(cc: str, folder: Path) -> Result:
    command = [_CCU, "run", "--testbed", "virtual", "--cc", cc, "--dl"]
    command += ["--scenario", "constant-100M", "--rtt", f"{_RTT_MS}ms"]
    command += ["--buffer", f"{_QUEUE_PACKETS}pkt", "--duration", f"{_SECONDS}s"]
    subprocess.run([*command, "--output", folder], stdout=subprocess.DEVNULL, check=True)
    run = open_run(next(folder.glob("*/run.json")).parent)
    flow = run.summary["flows"][0]
    floor_ms = run.summary["rtt_floor_ms"]
    return Result(
        flow["received_payload_bytes"] * 8e-6 / _SECONDS,
        flow["rtt_ms"]["mean"] - floor_ms,
        flow["rtt_ms"]["p95"] - floor_ms,
        flow["lost_in_link_count"],
    )


def main() -> None:
    print(
        "| cc | Mbit/s: Linux | ns-3 | mean queue, ms: Linux | ns-3 | p95 queue, ms: Linux | ns-3 "
        "| lost packets: Linux | ns-3 |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder, "one_flow", _LIBRARIES)
        for cc in _NS3_NAMES:
            linux, ns3 = in_linux(cc, folder / cc), in_ns3(program, cc)
            print(
                f"| {cc} | {linux.throughput_mbps:.2f} | {ns3.throughput_mbps:.2f} "
                f"| {linux.queue_mean_ms:.2f} | {ns3.queue_mean_ms:.2f} "
                f"| {linux.queue_p95_ms:.2f} | {ns3.queue_p95_ms:.2f} "
                f"| {linux.lost} | {ns3.lost} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
