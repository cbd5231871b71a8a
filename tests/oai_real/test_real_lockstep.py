# SPDX-License-Identifier: Apache-2.0
"""Lockstep runs over the real gNB and UE, with images of the user; see docs/oai.md.

Nothing is asserted about the speed of this machine, which may be slow and busy.
"""

from __future__ import annotations

import csv
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ccu.host import resources
from ddu.api import analyze
from testsupport.oai import real_runs
from testsupport.oai.real_runs import (
    PATIENCE_S,
    arguments,
    ccu,
    kill_container,
    left,
    started,
)
from testsupport.runs import json_of
from testsupport.waiting import until

pytestmark = pytest.mark.usefixtures("kernel")

LOCKSTEP = ("--lockstep", "--scenario", "static")


def performed(output: Path, version: str, core: str, *more: str) -> Path:
    """Perform a run; return its directory."""
    return real_runs.performed(output, *LOCKSTEP, *arguments(version, core, *more))


def coupled(output: Path) -> bool:
    """Return whether hosts and radio run in lockstep."""
    return any(file.stat().st_size > 200 for file in output.glob("*/raw/oai/wall-time.csv"))


@pytest.mark.parametrize("direction", ["dl", "ul"])
def test_a_run_is_valid_at_any_speed(
    oai_version: str, core: str, direction: str, tmp_path: Path
) -> None:
    more = ("--cc", "cubic", "--prb", "24", f"--{direction}", "--duration", "5s")
    run = performed(tmp_path, oai_version, core, *more)
    said = json_of(run / "run.json")
    assert (said["status"], said["verdict"]) == ("finished", "valid"), said["verdict_reasons"]
    coupling = said["coupling"]
    assert coupling["slots"] > 10_000
    assert coupling["late_packets"] <= 0.01 * sum(coupling["arrived_packets"])
    lost = sum(coupling["lost_packets"].values())
    assert lost < 0.05 * sum(coupling["sent_packets"])
    analyze(run, report=False)
    with (run / "tables/mac.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    # The gNB's counters have the hosts' time.
    assert sum(float(row[f"mac_{direction}_bytes"] or 0) for row in rows) > 1e5


def test_udp_under_the_capacity_arrives_at_its_rate(
    oai_version: str, core: str, tmp_path: Path
) -> None:
    more = ("--traffic", "udp:200k", "--prb", "24", "--duration", "10s")
    run = performed(tmp_path, oai_version, core, *more)
    (flow,) = json_of(run / "run.json")["flows"]
    assert flow["received_bytes"] * 8 / 10 == pytest.approx(200e3, rel=0.03)


# Before, while and after the containers start; None: when hosts and radio are coupled.
@pytest.mark.parametrize("after_s", [0.7, 3.0, 8.0, 13.0, 21.0, None])
def test_a_killed_run_is_cleaned(
    oai_version: str, core: str, after_s: float | None, tmp_path: Path
) -> None:
    process = started(tmp_path, *LOCKSTEP, *arguments(oai_version, core))
    if after_s is None:
        until(lambda: coupled(tmp_path), process)
    else:
        time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert left() or after_s is not None
    assert ccu("clean").returncode == 0
    assert left() == []
    assert list(resources.FOLDER.glob("*.radio")) == []
    running = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True)
    assert running.stdout.split() == []


@pytest.mark.parametrize("killed", ["gnb", "ue1"])
def test_a_modem_that_dies_fails_the_run(
    oai_version: str, core: str, killed: str, tmp_path: Path
) -> None:
    process = started(tmp_path, *LOCKSTEP, *arguments(oai_version, core))
    until(lambda: coupled(tmp_path), process)
    kill_container(killed)
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, printed
    assert left() == []
