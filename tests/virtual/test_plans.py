# SPDX-License-Identifier: Apache-2.0
"""Plans of `nr-link virtual` that cannot be, refused before anything starts."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from testsupport.virtual_time import PROGRAM, constant, prepare

FLOW = {"cc": "cubic", "direction": "dl", "duration_s": 1}
UDP = {"transport": "udp", "direction": "dl", "duration_s": 1}


def said(words: list[str], file: Path) -> str:
    ran = subprocess.run([PROGRAM, *words, file], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    return ran.stderr


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"flows": [{**FLOW, "id": "a"}, {**FLOW, "id": "a"}]}, "a is another flow's id"),
        ({"flows": [{**FLOW, "id": "f1"}, FLOW]}, "f1 is another flow's id"),
        ({"flows": [{**FLOW, "id": "../a"}]}, "has a /"),
        ({"flows": [FLOW], "server_address": "10.45.0.2"}, "has the address of another host"),
        ({"flows": [FLOW], "limit_s": 2e10}, "limit_s: 20000000000 is not above 0 and at most"),
        ({"flows": [{**FLOW, "duration_s": 2e10}]}, "flows[0].duration_s: 20000000000 is not"),
        ({"flows": [FLOW], "cpu_limit_s": 1e20}, "cpu_limit_s"),
        ({"flows": [FLOW], "start_utc_ns": 5 * 10**18}, "start_utc_ns"),
        (
            {"flows": [FLOW], "capture": {"files": {"server": "a.pcap", "ue": "a.pcap"}}},
            "capture.files: two hosts have the same file",
        ),
        ({"flows": [{**UDP, "rate_bps": 1e-7}]}, "rate_bps: 0.0000001 is not between 1 and"),
    ],
)
def test_wrong_plans(tmp_path: Path, plan: dict[str, Any], words: str) -> None:
    assert words in said(["virtual", "check"], prepare(tmp_path, plan))


def test_the_place_has_the_line(tmp_path: Path) -> None:
    file = prepare(tmp_path, {"flows": [FLOW]})
    flows = "".join(f"  - {{cc: cubic, direction: dl, duration_s: 1}}\n    # {ue}\n" for ue in "ab")
    file.write_text(
        f"schema: nr-link-virtual/1\nlink: link.yaml\nflows:\n{flows}"
        "  - cc: reno\n    direction: dl\n    duration_s: 1\n    ue: 2\n"
    )
    assert f"{file}:11: flows[2].ue: 2 is not between" in said(["virtual", "check"], file)


def test_the_plan_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "virtual-time.md").read_text()
    example = text.partition("schema: nr-link-virtual/1")[2].partition("```")[0]
    file = prepare(tmp_path, {"flows": [FLOW]})
    file.write_text(f"schema: nr-link-virtual/1{example}")
    command = [PROGRAM, "virtual", "check", file]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr


def test_a_folder_for_reports_is_made(kernel: Path, tmp_path: Path) -> None:
    file = prepare(tmp_path, {"flows": [FLOW], "output": "reports/new"})
    subprocess.run([PROGRAM, "virtual", "run", file], check=True, capture_output=True)
    assert (tmp_path / "reports" / "new" / "virtual.json").exists()


def test_a_trace_that_has_no_end_is_not_read(tmp_path: Path) -> None:
    endless = {"trace": {"file": "/dev/zero", "format": "mahimahi"}}
    scenario = {"capacity": {**constant(10, 10)["capacity"], "dl": endless}}
    file = prepare(tmp_path, {"flows": [FLOW]}, scenario)
    assert "/dev/zero: is not a file" in said(["check", "--config"], file.with_name("link.yaml"))
