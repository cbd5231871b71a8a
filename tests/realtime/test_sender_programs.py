# SPDX-License-Identifier: Apache-2.0
"""Sender programs of the user's own, in real time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/udp_aimd.py"
SHORT = ("--scenario", "static", "--prb", "24", "--duration", "3s")


@pytest.mark.root
def test_a_program_shares_a_link_in_real_time(runs: Runs) -> None:
    run = runs("--flows", f"cubic@0,program:{EXAMPLE}@1", "--ul", *SHORT)
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["cc_implementation"]["udp_aimd"]["kind"] == "program"
    tcp, own = manifest["flows"]
    assert (tcp["cc_read_back"], own["cc_read_back"]) == ("cubic", None)
    assert own["sender"]["host"] == "ue"
    table = runs.table("--flows", f"cubic@0,program:{EXAMPLE}@1", "--ul", *SHORT)
    assert set(table[table.flow == "f1"].cc) == {"udp_aimd"}
    # 1 Mbit/s at least for two seconds.
    assert own["received_bytes"] > 0


@pytest.mark.root
def test_a_program_that_never_sends_fails_the_run(
    runs: Runs, ours: Callable[[], set[str]], tmp_path: Path
) -> None:
    assert runs
    own = tmp_path / "silent"
    own.write_text("#!/bin/sh\nexec sleep 1000\n")
    own.chmod(0o755)
    words = ["--testbed", "emulated", "--cc", f"program:{own}", *SHORT]
    said = command("ccu", "run", "--no-report", *words, "--output", tmp_path / "runs")
    assert said.returncode == 1
    assert "silent sent nothing to 10.45.0.2 port 5201 by UDP" in said.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["status"] == "failed"
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(own) not in processes
