# SPDX-License-Identifier: Apache-2.0
"""The promises of this repository for its application and congestion control over 5G."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import ddu

HERE = Path(__file__).parent
PROGRAMS = Path(os.environ.get("TESTBED", HERE / "testbed")) / ".venv/bin"


def command(name: str, *arguments: object) -> None:
    """Run a program of the testbed, which has to succeed."""
    ran = subprocess.run([PROGRAMS / name, *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def analysed(output: Path) -> ddu.Run:
    """The only run under a folder, with its tables."""
    (run,) = (manifest.parent for manifest in output.glob("*/run.json"))
    command("ddu", "analyze", "--no-report", run)
    return ddu.open_run(run)


def test_photos_arrive_in_time(tmp_path: Path) -> None:
    for name in ("photo_service.py", "link.yaml", "plan.yaml"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "testbed").symlink_to(PROGRAMS.parents[1])
    command("nr-link", "virtual", "run", tmp_path / "plan.yaml")
    durations_s = json.loads((tmp_path / "photos.json").read_text())
    assert len(durations_s) == 10
    assert max(durations_s) < 1.0

    captures = tmp_path / "captures"
    captures.mkdir()
    for host in ("server", "ue"):
        shutil.move(tmp_path / f"{host}.pcap", captures)
    flags = ("--direction", "dl", "--one-clock")
    command("ddu", "import", captures, *flags, "--runs", tmp_path / "runs")
    run = analysed(tmp_path / "runs")
    assert run.aligned["tcp_rtt_ms"].quantile(0.95) < 250
    assert run.summary["throughput_bps"] > 5e6


def test_bbr_keeps_its_round_trips_short(tmp_path: Path) -> None:
    experiment = ("--scenario", "rome-moderate", "--prb", 24, "--duration", "10s", "--seed", 1)
    virtual = ("run", "--testbed", "virtual", "--output", tmp_path)
    command("ccu", *virtual, "--cc", "bbr", *experiment)
    run = analysed(tmp_path)
    assert run.summary["verdict"] == "valid"
    assert run.aligned["tcp_rtt_ms"].quantile(0.95) < 250
    assert run.summary["utilisation_ratio"] > 0.6
