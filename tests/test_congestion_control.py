# SPDX-License-Identifier: Apache-2.0
"""A congestion control in one BPF source file, from the file to the aligned table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed_testing.runs import Runs

ROOT = Path(__file__).parents[1]
CCU = Path(sys.executable).parent / "ccu"
EXAMPLE = ROOT / "cc/bpf/aimd.bpf.c"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SHORT = ("--scenario", "static", "--prb", "24", "--duration", "3s")


@pytest.fixture
def source(runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a user's own copy of the example, under another name."""
    assert runs
    file = tmp_path / "toy.bpf.c"
    file.write_text(EXAMPLE.read_text().replace("aimd", "toy"))
    monkeypatch.setenv("CCU_CC_PATH", str(tmp_path))
    return file


def ccu(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CCU, *args], capture_output=True, text=True, cwd=ROOT)


@pytest.mark.root
def test_one_file_is_a_congestion_control(source: Path, runs: Runs) -> None:
    assert "BPF program (toy.bpf.c)" in ccu("list", "cc").stdout
    run = runs("--cc", "toy", *SHORT)
    manifest = json.loads((run / "run.json").read_text())
    assert [flow["cc_read_back"] for flow in manifest["flows"]] == ["toy"]
    assert manifest["cc_implementation"]["toy"]["kind"] == "bpf"
    assert (run / "raw/cc-toy.bpf.c").read_text() == source.read_text()
    assert "toy" in (run / "tables/aligned.csv").read_text()
    # AIMD fills a link whose buffer is larger than its bandwidth-delay product, or nearly so on a
    # busy machine.
    assert json.loads((run / "summary.json").read_text())["utilisation_ratio"] > 0.3
    assert "toy" not in AVAILABLE.read_text().split()


@pytest.mark.root
def test_a_killed_run_leaves_nothing_registered(source: Path, tmp_path: Path) -> None:
    command = [
        CCU,
        "run",
        "--testbed",
        "emulated",
        "--cc",
        "toy",
        *SHORT[:-1],
        "20s",
        "--output",
        tmp_path / "runs",
    ]
    assert source.exists()
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    deadline = time.monotonic() + 300
    while "toy" not in AVAILABLE.read_text().split():
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    run.kill()
    run.wait()
    assert ccu("clean").returncode == 0
    while "toy" in AVAILABLE.read_text().split():  # The kernel ends the link of a dead process.
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.root
def test_a_source_that_does_not_compile_is_refused_with_its_line(
    source: Path, tmp_path: Path
) -> None:
    lines = source.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "tcp_slow_start" in line)
    lines[at] = "acked = tcp_slow_start(tp;\n"
    source.write_text("".join(lines))
    refused = ccu(
        "run", "--testbed", "emulated", "--cc", "toy", *SHORT, "--output", str(tmp_path / "runs")
    )
    assert refused.returncode == 2
    assert f"{source}:{at + 1}: clang: " in refused.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.root
def test_a_source_that_registers_another_name_fails_the_run(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text().replace('.name = "toy"', '.name = "else"'))
    failed = ccu(
        "run", "--testbed", "emulated", "--cc", "toy", *SHORT, "--output", str(tmp_path / "runs")
    )
    assert failed.returncode == 1
    assert "registers another name than toy" in failed.stderr
    assert "else" not in AVAILABLE.read_text().split()
