# SPDX-License-Identifier: Apache-2.0
"""Experiments of `ccu` on the testbed `virtual`, and their analysis."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent
SHORT = ["--duration", "3s", "--prb", "24", "--seed", "7"]


def ccu_run(output: Path, *arguments: str) -> Path:
    """The directory of a run in virtual time."""
    command = [BIN / "ccu", "run", "--testbed", "virtual", *SHORT, *arguments]
    said = subprocess.run([*command, "--output", output], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    (directory,) = (path for path in output.iterdir() if path.is_dir())
    return directory


def manifest(run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((run / "run.json").read_text())
    return content


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cc", "reminis", "--dl"),
        ("--cc", "vegas", "--ul"),
        ("--cc", "bbr", "--bidir"),
        ("--cc", "cubic", "--dl", "--ues", "2"),
    ],
)
def test_ddu_analyses_a_run(kernel: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run = ccu_run(tmp_path, *arguments)
    content = manifest(run)
    assert (content["status"], content["verdict"]) == ("finished", "valid")
    assert content["time"]["clock"] == "virtual"
    for flow in content["flows"]:
        assert flow["cc_read_back"] == flow["cc"]
    said = subprocess.run(
        [sys.executable, "-m", "ddu", "analyze", "--no-report", run],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    summary = json.loads((run / "summary.json").read_text())
    assert summary["verdict"] == "valid", summary


def test_the_same_experiment_gives_the_same_bytes(kernel: Path, tmp_path: Path) -> None:
    runs = [ccu_run(tmp_path / name, "--cc", "reminis", "--dl") for name in ("one", "two")]
    files = ("sender.pcap", "receiver.pcap", "mac.csv", "cc-reminis.csv", "sockets-server.pcap")
    for name in files:
        one, two = ((run / "raw" / name).read_bytes() for run in runs)
        assert hashlib.sha256(one).digest() == hashlib.sha256(two).digest(), name


def test_rerun_says_identical_or_what_differs_first(kernel: Path, tmp_path: Path) -> None:
    run = ccu_run(tmp_path / "first", "--cc", "reminis", "--dl")

    def rerun(output: str) -> subprocess.CompletedProcess[str]:
        command = [BIN / "ccu", "rerun", run, "--output", tmp_path / output]
        return subprocess.run(command, capture_output=True, text=True)

    same = rerun("same")
    assert same.returncode == 0, same.stderr
    assert f"identical to {run}" in same.stdout
    capture = bytearray((run / "raw/receiver.pcap").read_bytes())
    capture[1000] ^= 1
    (run / "raw/receiver.pcap").write_bytes(capture)
    changed = rerun("changed")
    assert changed.returncode == 1
    assert "not identical: raw/receiver.pcap differs from byte 1000 on" in changed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cc", "vegaz"), "--cc: no congestion control 'vegaz'. Did you mean vegas?"),
        (("--cc", "cubic", "--cc-param", "dtt=30ms"), "--cc-param: cubic takes no parameters"),
        (("--cc", "reminis", "--cc-param", "dtt=0ms"), "dtt=0ms"),
        (("--cc", "cubic", "--prb", "107"), "107 PRB is not a channel bandwidth"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_made(
    kernel: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    command = [BIN / "ccu", "run", "--testbed", "virtual", *arguments, "--output", tmp_path / "no"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 2
    assert message in said.stderr
    assert not (tmp_path / "no").exists()


def test_a_campaign_runs_what_only_the_kernel_in_virtual_time_has(
    kernel: Path, tmp_path: Path
) -> None:
    file = tmp_path / "vegas.yaml"
    file.write_text(
        "title: Vegas beside CUBIC\n"
        "base: {testbed: virtual, scenario: static, prb: 24, duration: 1s}\n"
        "factors: {cc: [vegas, cubic]}\n"
    )
    command = [BIN / "ccu", "campaign", "run", file, "--output", tmp_path / "out"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    runs = (tmp_path / "out").glob("*/runs/*/*/run.json")
    ccs = sorted(json.loads(one.read_text())["flows"][0]["cc_read_back"] for one in runs)
    assert ccs == ["cubic", "vegas"]
