# SPDX-License-Identifier: Apache-2.0
"""The end of runs: each is reported, and none leaves resources on the machine."""

from __future__ import annotations

import csv
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.prepared import Started, command
from testsupport.runs import Runs, manifest_in
from testsupport.waiting import until

LONG = ("--scenario", "static", "--duration", "600s")
# At the first step after the traffic.
SIGNAL_AFTER_TRAFFIC = """
import os, signal
from ccu.runs import capture
stop = capture.stop_captures
capture.stop_captures = lambda *of: (os.kill(os.getpid(), signal.SIGTERM), stop(*of))
"""
Ours = Callable[[], set[str]]


def started(output: Path, *args: str) -> Started:
    """Return a run whose traffic flows."""
    words = ("run", "--testbed", "emulated", *LONG, *args, "--output", output)
    run = Started("ccu", *words)
    until(lambda: delivered_bytes(output) > 0, run)
    return run


def delivered_bytes(output: Path) -> int:
    """Return the bytes that the link has carried, as its last whole row counts them."""
    for file in output.glob("*/raw/mac.csv"):
        rows = list(csv.DictReader(file.read_text().rpartition("\n")[0].splitlines()))
        return int(rows[-1]["mac_dl_bytes"]) if rows else 0
    return 0


@pytest.mark.root
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_in_order(
    runs: Runs, ours: Ours, tmp_path: Path, sent: signal.Signals
) -> None:
    before = ours()
    run = started(tmp_path, "--cc", "cubic")
    run.send_signal(sent)
    assert run.wait() == 130
    assert manifest_in(tmp_path)["status"] == "interrupted"
    assert ours() == before


@pytest.mark.root
def test_a_signal_after_the_traffic_is_heard(runs: Runs, ours: Ours, tmp_path: Path) -> None:
    """The run is complete; but no script or campaign may go on as if nothing had come."""
    before = ours()
    run = command(
        "ccu", "run", "--no-report", "--testbed", "emulated", *LONG, "--cc", "cubic",
        "--duration", "1s", "--output", tmp_path, changed=SIGNAL_AFTER_TRAFFIC,
    )  # fmt: skip
    assert run.returncode == 130
    assert "interrupted by SIGTERM; the run is complete" in run.stderr
    assert manifest_in(tmp_path)["status"] == "finished"
    assert ours() == before


@pytest.mark.root
def test_the_resources_of_a_killed_run_are_removed_by_clean(
    runs: Runs, reminis: None, ours: Ours, tmp_path: Path
) -> None:
    before = ours()
    run = started(tmp_path, "--cc", "reminis")
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert ours() != before
    assert command("ccu", "clean").returncode == 0
    assert ours() == before
    assert manifest_in(tmp_path)["status"] == "failed"


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
    os.kill(int(first), signal.SIGKILL)
    assert run.wait() == 1
    assert victim in run.printed
    assert "SIGKILL" in run.printed
    assert manifest_in(tmp_path)["status"] == "failed"
    assert ours() == before
