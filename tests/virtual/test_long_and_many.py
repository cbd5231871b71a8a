# SPDX-License-Identifier: Apache-2.0
"""Plans at their limits: an hour, many packets at one instant, a second address of a UE."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from testsupport.virtual_time import PROGRAM, constant, prepare

UDP = {"transport": "udp", "direction": "dl"}
SENDER = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    for address in ("10.45.0.2", "10.45.0.77", "10.45.0.78"):
        sender.sendto(b"hello", (address, 5000))
"""


def run(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the link's summary, and the report of the first flow."""
    subprocess.run([PROGRAM, "virtual", "run", file], check=True, capture_output=True)
    summary = json.loads((file.parent / "link-summary.json").read_text())
    flows = file.parent / "flows.json"
    return summary, json.loads(flows.read_text())["flows"][0] if flows.exists() else {}


def test_a_flow_of_an_hour_has_its_report(kernel: Path, tmp_path: Path) -> None:
    """It has 300 bytes for each second, and the kernel takes 1 MiB at once."""
    flow = {**UDP, "rate_bps": 2000, "duration_s": 3600}
    samples = {"interval_ms": 1000}
    _, report = run(prepare(tmp_path, {"flows": [flow]}, samples=samples))
    assert report["datagrams"]["received"] == report["sent_datagrams"]
    assert len(report["sender"]) > 3590


def test_a_host_takes_all_that_the_link_delivers_at_one_instant(
    kernel: Path, tmp_path: Path
) -> None:
    """Linux queues 1000 packets that it has not yet looked at, unless it is set to more."""
    flow = {**UDP, "rate_bps": 400e6, "length_bytes": 12, "duration_s": 0.01}
    queue = {way: {"packets": 60_000} for way in ("dl", "ul")}
    plan = prepare(tmp_path, {"flows": [flow]}, constant(10_000, 10_000), queue=queue)
    summary, report = run(plan)
    assert summary["host_drop_count"] == 0
    assert report["datagrams"]["received"] == report["sent_datagrams"] > 30_000


def test_a_ue_has_the_packets_of_all_its_addresses(kernel: Path, tmp_path: Path) -> None:
    programs = [
        {"host": "ue", "command": ["sleep", "1"]},
        {"host": "server", "start_s": 0.5, "command": [sys.executable, "-c", SENDER]},
    ]
    ue = {"name": "ue1", "addresses": ["10.45.0.2", "10.45.0.77"]}
    devices = {"core": {"name": "n6"}, "ue": [ue]}
    summary, _ = run(prepare(tmp_path, {"programs": programs}, devices=devices))
    assert summary["unaddressed_packets"] == 1
