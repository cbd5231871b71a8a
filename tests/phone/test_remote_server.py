# SPDX-License-Identifier: Apache-2.0
"""Runs with `--server`: the phone here, ccu and the traffic on another machine, by a real sshd."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from testsupport.phone.sshd import sshd
from testsupport.phone.street import Street

ROOT = Path(__file__).parents[2]
RUN = ("run", "--testbed", "phone", "--cc", "cubic", "--duration", "2s")


@pytest.fixture
def ssh(street: Street, tmp_path: Path) -> Iterator[str]:
    """Yield the value of CCU_SSH for the host `far`."""
    path = f"PATH={ROOT / '.venv/bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
    with sshd(tmp_path / "ssh", street.server, "127.0.0.1", path) as command:
        yield command


@pytest.mark.root
def test_the_run_is_executed_there_and_copied_here(
    street: Street, ssh: str, tmp_path: Path
) -> None:
    street.plug_in()
    output = tmp_path / "runs"
    os.environ["CCU_SSH"] = ssh
    try:
        far = ("--server", "far", "--output", str(output))
        ran = street.ccu(*RUN, *far)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (run,) = output.iterdir()
        recorded = json.loads((run / "run.json").read_text())
        assert recorded["status"] == "finished"
        assert recorded["flows"][0]["cc_read_back"] == "cubic"
        assert recorded["hosts"]["ue"]["model"] == "Test 5G"
        assert 0 < analysis_of(run).summary["throughput_bps"] < 40e6
        refused = street.ccu(*RUN, *far, "--cc", "vegaz")
        assert refused.returncode == 2
        assert "vegaz" in refused.stdout
        nowhere = street.ccu(*RUN, "--server", "root@203.0.113.1:1")
        assert nowhere.returncode == 2
        assert "is not reachable" in nowhere.stderr
    finally:
        del os.environ["CCU_SSH"]
    assert list(output.iterdir()) == [run]
