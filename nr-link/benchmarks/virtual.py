#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures runs in virtual time: virtual seconds for each second of CPU, and what explaining each
packet's delay (`ccu run --explain`) adds. Prints a Markdown table.

Of several runs the one with the least CPU time counts: others on the machine only make it more.

Usage: nr-link/benchmarks/virtual.py [NAME …]      after `make build` and setup/virtual-kernel
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS = 3
TREE = Path(__file__).resolve().parents[2]
PROGRAM = TREE / ".venv/bin/nr-link"
STILL = {"ss_pbch_block_power_dbm": 0, "level": {"rsrp_dbm": -50}}
STILL["noise"] = {"floor_dbm_per_re": -90}
TDD = {"tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}}
MMWAVE_TDD = {"tdd": {"pattern": "DDDSU", "special": {"dl_symbols": 10, "ul_symbols": 2}}}


def carrier(prb: int, **more: Any) -> dict[str, Any]:
    return {"carrier_ghz": 3.6, "numerology": 1, "prb": prb, "duplex": TDD, **more}


def constant(mbps: float) -> dict[str, Any]:
    return {"capacity": {way: {"constant_mbps": mbps} for way in ("dl", "ul")}}


WIDE = carrier(273, layers={"dl": 4, "ul": 1}, mcs_table="256qam")
MMWAVE = {**carrier(264, mcs_table="256qam"), "carrier_ghz": 28, "numerology": 3}
MMWAVE["duplex"] = MMWAVE_TDD
# name: (scenario of the library, or a description of it; carrier; bytes of the queue)
LINKS: dict[str, tuple[str | dict[str, Any], dict[str, Any] | None, int]] = {
    "24 PRB": ({"radio": STILL}, carrier(24), 1_000_000),
    "106 PRB": ({"radio": STILL}, carrier(106), 2_000_000),
    "273 PRB, 4 layers": ({"radio": STILL}, WIDE, 8_000_000),
    "rome-moderate": ("rome-moderate", carrier(106), 2_000_000),
    "urban-mmwave": ("urban-mmwave", MMWAVE, 20_000_000),
    "10 Mbit/s": (constant(10), None, 100_000),
    "100 Mbit/s": (constant(100), None, 500_000),
    "1 Gbit/s": (constant(1000), None, 5_000_000),
}


def write(folder: Path, name: str, seconds: float, explained: bool) -> Path:
    """The files of a run."""
    scenario, radio, queue_bytes = LINKS[name]
    if isinstance(scenario, str):
        text = (TREE / "rf-scenarios" / f"{scenario}.yaml").read_text()
    else:
        described = {"schema": "rf-scenario/1", "name": "still", "summary": "Measured."}
        described |= {"sources": ["chosen"], "license": "Apache-2.0"}
        text = json.dumps({**described, "duration_s": 600, "at_end": "loop", **scenario})
    (folder / "scenario.yaml").write_text(text)
    link: dict[str, Any] = {
        "schema": "nr-link/1",
        "seed": 1,
        "mtu_bytes": 1500,
        "scenario": "scenario.yaml",
        "path": {way: {"delay_ms": 10} for way in ("dl", "ul")},
        "queue": {way: {"bytes": queue_bytes} for way in ("dl", "ul")},
        "samples": {"interval_ms": 10},
        "devices": {"core": {"name": "n6"}, "ue": [{"name": "ue1"}]},
        "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
    }
    if radio:
        link["radio"] = radio
    if explained:
        link["output"]["delays"] = "delays.npy"
    (folder / "link.yaml").write_text(json.dumps(link))
    plan = {
        "schema": "nr-link-virtual/1",
        "link": "link.yaml",
        "flows": [{"direction": "dl", "cc": "cubic", "duration_s": seconds}],
        "capture": {"files": {"server": "sender.pcap", "ue": "receiver.pcap"}},
        "sockets": {"interval_ms": 20, "files": {"server": "sockets-server.pcap"}},
    }
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    return file


def run(name: str, seconds: float, explained: bool) -> dict[str, Any]:
    """The summary that a run prints."""
    with tempfile.TemporaryDirectory() as folder:
        plan = write(Path(folder), name, seconds, explained)
        said = subprocess.run([PROGRAM, "virtual", "run", plan], capture_output=True, text=True)
        if said.returncode != 0:
            raise SystemExit(f"{name}: {said.stderr}")
        account: dict[str, Any] = json.loads(said.stdout)
        return account


def least(name: str, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """The summaries of the runs with the least CPU time: without explained delays, and with them.
    Both take turns, so that what else the machine does falls on both."""
    pairs = [[run(name, seconds, explained) for explained in (False, True)] for _ in range(RUNS)]
    plain, explained = (
        min(accounts, key=lambda account: float(account["cpu_s"]))
        for accounts in zip(*pairs, strict=True)
    )
    return plain, explained


def measure(name: str, seconds: float) -> str:
    """A row of the table."""
    account, explained = least(name, seconds)
    flow = account["flows"][0]
    rate_mbps = flow["received_bytes"] * 8e-6 / flow["receiving_s"]
    ratio = account["virtual_s"] / account["cpu_s"]
    return (
        f"| {name} | {rate_mbps:.1f} | {account['cpu_s']:.2f} | {account['wall_s']:.2f} "
        f"| {ratio:.1f} | {explained['cpu_s'] / account['cpu_s']:.2f} |"
    )


def main() -> None:
    load = ", ".join(f"{load:.0f}" for load in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}; least of {RUNS} runs\n")
    print(
        "| link, one CUBIC flow down, 20 s | Mbit/s | CPU, s | wall, s | virtual s a CPU s "
        "| CPU with explained delays, ratio |"
    )
    print("|---|---|---|---|---|---|")
    for name in sys.argv[1:] or LINKS:
        print(measure(name, 20), flush=True)


if __name__ == "__main__":
    main()
