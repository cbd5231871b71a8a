# SPDX-License-Identifier: Apache-2.0
"""Flows of QUIC over the radio that cannot work: one clear error each, of an end or of the run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from testsupport.prepared import BIN
from testsupport.virtual_time import VirtualRun

QUIC_FLOW = str(BIN / "quic-flow")
RECEIVER = "10.45.0.2:5201"
NOBODY = "10.45.0.2:5202"


def ends(folder: Path, to: str = RECEIVER, policy: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the programs of a flow down to `RECEIVER`, which is sent `to`."""
    subprocess.run([QUIC_FLOW, "certificate", folder], check=True)
    certificate = ["--certificate", str(folder / "quic-certificate.pem")]
    key = ["--key", str(folder / "quic-key.pem"), "--limit", "5"]
    receive = [QUIC_FLOW, "receive", "--address", RECEIVER, *certificate, *key]
    send = [QUIC_FLOW, "send", "--address", "10.45.0.1:20001", "--to", to, *certificate]
    send += ["--duration", "2", *(["--", *policy] if policy else [])]
    return [
        {"host": "ue", "name": "receiver", "command": receive, "output": "receiver.json"},
        {"host": "server", "name": "sender", "command": send, "output": "sender.json"}
        | {"start_s": 0.1},
    ]


def error(run: VirtualRun, end: str) -> str:
    """Return why an end failed."""
    return str(json.loads((run.folder / f"{end}.json").read_text())["error"])


@pytest.mark.parametrize("spins", ["pass", "time.monotonic()"])
def test_a_policy_that_spins_is_stopped(
    virtual: Callable[..., VirtualRun], tmp_path: Path, spins: str
) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(
        "import time\n"
        "class Mine:\n"
        "    def report(self, flow, report):\n"
        f"        while True: {spins}\n"
    )
    words = [sys.executable, "-B", "-m", "ccplane", "run", str(policy)]
    run = virtual({"programs": ends(tmp_path, policy=words), "cpu_limit_s": 1})
    assert run.result.returncode == 1
    assert "a program computes, or asks for the time again and again" in run.result.stderr


def test_an_interface_that_is_too_narrow_is_named(
    virtual: Callable[..., VirtualRun], tmp_path: Path
) -> None:
    run = virtual({"programs": ends(tmp_path)}, mtu_bytes=1227)
    said = error(run, "sender")
    assert "the path MTU is below 1200 bytes of UDP payload" in said
    assert "Raise the MTU of the interface to 1228 bytes" in said


def test_a_narrowest_path_carries_quic(virtual: Callable[..., VirtualRun], tmp_path: Path) -> None:
    run = virtual({"programs": ends(tmp_path)}, mtu_bytes=1228)
    sent = json.loads((run.folder / "sender.json").read_text())
    assert run.result.returncode == 0, run.result.stderr
    assert sent["path_mtu_bytes"] == 1200 < sent["written_bytes"]


def test_a_sender_without_an_answer_says_so(
    virtual: Callable[..., VirtualRun], tmp_path: Path
) -> None:
    """Nobody listens, and the UE's refusal by ICMP is no answer by UDP."""
    run = virtual({"programs": ends(tmp_path, to=NOBODY)})
    assert f"{NOBODY} does not answer by UDP within" in error(run, "sender")
    assert "no sender came within 5 s" in error(run, "receiver")
