# SPDX-License-Identifier: Apache-2.0
"""Invalid input is refused in one message with the place, the rule and the fix."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs

ROOT = Path(__file__).parents[2]
SHORT = ("--scenario", "static", "--duration", "3s")
MOUNTED = """
import ctypes, subprocess
CLONE_NEWNS = 0x20000
assert ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0
subprocess.run("mount --make-rprivate / && {}", shell=True, check=True)
"""
Ours = Callable[[], set[str]]


def refusal(*args: str, inside: str = "") -> str:
    """Return the stderr of `ccu run ARGS`, with what the command `inside` mounts for it alone."""
    changed = MOUNTED.format(inside) if inside else ""
    ran = command("ccu", "run", "--no-report", "--testbed", "emulated", *args, changed=changed)
    assert ran.returncode in (1, 2), ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stderr


@pytest.mark.root
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--cc", "vegaz", *SHORT], ["vegaz", "cubic", "reminis"]),
        (["--cc", "cubic", "--prb", "107", *SHORT], ["107", "38.101", "106 (40 MHz)"]),
        (["--cc", "cubic", "--scenario", "nowhere"], ["nowhere", "rome-moderate"]),
        (["--flows", "cubic@0,reno@9", *SHORT], ["reno@9", "3 s"]),
        (["--cc", "cubic", "--buffer", "3furlongs", *SHORT], ["3furlongs", "3200pkt"]),
        (["--cc", "reminis", "--cc-param", "colour=red", *SHORT], ["colour=red", "dtt="]),
        (["--cc", "reminis", "--cc-param", "dtt=0ms", *SHORT], ["dtt=0ms", "at most 10s"]),
        (["--cc", "reminis", "--cc-param", "dtt=11s", *SHORT], ["dtt=11s", "at most 10s"]),
        (["--cc", "reminis", "--cc-param", "dtt=soon", *SHORT], ["dtt=soon", "dtt=30ms"]),
    ],
)
def test_wrong_flags(
    runs: Runs, ours: Ours, tmp_path: Path, args: list[str], words: list[str]
) -> None:
    before = ours()
    printed = refusal(*args, "--output", str(tmp_path))
    assert all(word in printed for word in words), printed
    assert list(tmp_path.iterdir()) == []
    assert ours() == before


@pytest.mark.root
def test_a_scenario_with_a_wrong_line(runs: Runs, tmp_path: Path) -> None:
    text = (ROOT / "rf-scenarios/static.yaml").read_text()
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(text.replace("duration_s: 600", "duration_s: sixty"))
    line = text.splitlines().index("duration_s: 600") + 1
    printed = refusal("--cc", "cubic", "--scenario", str(wrong), "--output", str(tmp_path / "runs"))
    assert f"wrong.yaml:{line}" in printed


@pytest.mark.root
def test_no_btf(runs: Runs, tmp_path: Path) -> None:
    printed = refusal(
        "--cc", "reminis", *SHORT, "--output", str(tmp_path),
        inside="mount -t tmpfs none /sys/kernel/btf",
    )  # fmt: skip
    assert "BTF" in printed
    assert "cubic" in printed


@pytest.mark.root
def test_no_tun(runs: Runs, ours: Ours, tmp_path: Path) -> None:
    before = ours()
    printed = refusal(
        "--cc", "cubic", *SHORT, "--output", str(tmp_path), inside="mount -t tmpfs none /dev/net"
    )
    assert "/dev/net/tun" in printed
    assert "modprobe tun" in printed
    assert ours() == before


@pytest.mark.root
def test_a_disk_that_is_too_small(runs: Runs, ours: Ours, tmp_path: Path) -> None:
    before = ours()
    printed = refusal(
        "--cc", "cubic", *SHORT, "--output", str(tmp_path),
        inside=f"mount -t tmpfs -o size=1m none {tmp_path}",
    )  # fmt: skip
    assert str(tmp_path) in printed
    assert ours() == before


@pytest.mark.root
def test_a_cut_off_capture_and_a_future_schema(runs: Runs, tmp_path: Path) -> None:
    whole = runs("--cc", "reno", "--dl", "--prb", "24", "--scenario", "static", "--duration", "2s")
    copy = tmp_path / whole.name
    subprocess.run(["cp", "-r", str(whole), str(copy)], check=True)

    capture = copy / "raw/receiver.pcap"
    capture.write_bytes(capture.read_bytes()[:-10])
    changed = command("ddu", "analyze", copy)
    assert changed.returncode == 2
    assert "receiver.pcap" in changed.stderr

    # A run without digests, as from before there were any.
    manifest = json.loads((copy / "run.json").read_text())
    del manifest["integrity"]
    (copy / "run.json").write_text(json.dumps(manifest))
    assert command("ddu", "analyze", copy).returncode == 0
    summary = json.loads((copy / "summary.json").read_text())
    assert summary["verdict"] == "degraded"
    assert any("receiver.pcap" in reason for reason in summary["verdict_reasons"])

    (copy / "run.json").write_text(json.dumps({**manifest, "schema_version": 99}))
    refused = command("ddu", "analyze", copy)
    assert refused.returncode == 2
    assert "99" in refused.stderr
