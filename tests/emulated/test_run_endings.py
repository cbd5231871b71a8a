# SPDX-License-Identifier: Apache-2.0
"""The end of runs: each is reported, and none leaves resources on the machine."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.runs import Runs

LONG = ("--scenario", "static", "--duration", "20s")
Ours = Callable[[], set[str]]


def started(output: Path, *args: str) -> subprocess.Popen[str]:
    """Yield a run of 20 s whose traffic flows."""
    run = subprocess.Popen(
        [".venv/bin/ccu", "run", "--testbed", "emulated", *LONG, *args, "--output", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    deadline = time.monotonic() + 300
    while not list(output.glob("*/raw/iperf3-f0-client.json")):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)
    return run


def manifest(output: Path) -> dict[str, object]:
    (found,) = output.glob("*/run.json")
    loaded: dict[str, object] = json.loads(found.read_text())
    return loaded


@pytest.mark.root
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_in_order(
    runs: Runs, ours: Ours, tmp_path: Path, sent: signal.Signals
) -> None:
    before = ours()
    run = started(tmp_path, "--cc", "cubic")
    run.send_signal(sent)
    run.communicate(timeout=600)
    assert run.returncode == 130
    assert manifest(tmp_path)["status"] == "interrupted"
    assert ours() == before


@pytest.mark.root
def test_a_signal_after_the_traffic_is_heard(runs: Runs, ours: Ours, tmp_path: Path) -> None:
    """The run is complete; but no script or campaign may go on as if nothing had come."""
    before = ours()
    run = started(tmp_path, "--cc", "cubic", "--duration", "3s")
    deadline = time.monotonic() + 300
    while not dict(manifest(tmp_path)["time"]).get("traffic_stop_utc_ns"):  # type: ignore[call-overload]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run.send_signal(signal.SIGTERM)
    printed, _ = run.communicate(timeout=600)
    assert run.returncode == 130
    assert "interrupted by SIGTERM; the run is complete" in printed
    assert manifest(tmp_path)["status"] == "finished"
    assert ours() == before


@pytest.mark.root
def test_the_resources_of_a_killed_run_are_removed_by_clean(
    runs: Runs, reminis: None, ours: Ours, tmp_path: Path
) -> None:
    before = ours()
    run = started(tmp_path, "--cc", "reminis")
    run.kill()
    run.communicate(timeout=600)
    assert ours() != before
    subprocess.run([".venv/bin/ccu", "clean"], cwd=Path(__file__).parents[2], check=True)
    assert ours() == before
    assert manifest(tmp_path)["status"] == "failed"


@pytest.mark.root
@pytest.mark.parametrize("victim", ["nr-link", "tcpdump"])
def test_a_run_fails_with_the_program_that_dies(
    runs: Runs, ours: Ours, tmp_path: Path, victim: str
) -> None:
    before = ours()
    run = started(tmp_path, "--cc", "cubic")
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in children}
    (first, *_) = (pid for pid, name in names.items() if name == victim)
    subprocess.run(["kill", "-9", first], check=True)
    printed, _ = run.communicate(timeout=600)
    assert run.returncode == 1
    assert f"{victim}" in printed
    assert "SIGKILL" in printed
    assert manifest(tmp_path)["status"] == "failed"
    assert ours() == before
