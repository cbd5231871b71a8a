# SPDX-License-Identifier: Apache-2.0
"""The traffic of another package (examples/traffic), as the tests of each testbed run it."""

from __future__ import annotations

import json
from pathlib import Path

from testsupport.example_package import ccu, ddu, install

ENTRY_POINT = "ccu.traffic: pulse = ccu_pulse:PULSE"
PAYLOAD_BYTES = 100


def installed(folder: Path) -> Path:
    """Return a folder of packages with the example in it."""
    return install(folder, "ccu_pulse", ENTRY_POINT, under="traffic")


def check_run(packages: Path, output: Path, testbed: str) -> None:
    """Run it beside TCP to its tables, and compare what it reports with the captures."""
    flows = "cubic@0,pulse:50@1"
    words = ("--flows", flows, "--scenario", "static", "--duration", "3s", "--ul")
    ended = ccu(packages, "run", "--no-report", "--testbed", testbed, *words, "--output", output)
    assert ended.returncode == 0, ended.stderr
    (run,) = output.iterdir()
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["experiment"]["flows"][1] == {
        "cc": "pulse",
        "start_s": 1.0,
        "ue": None,
        "pulse": "50",
    }
    tcp, pulse = manifest["flows"]
    assert (tcp["cc_read_back"], pulse["cc_read_back"]) == ("cubic", None)
    assert (tcp["traffic"], pulse["traffic"]) == ("tcp", "pulse:50")
    report = json.loads((run / "raw/pulse-f1.json").read_text())
    assert pulse["received_bytes"] == PAYLOAD_BYTES * report["received_datagrams"]
    assert 0 < report["received_datagrams"] <= 100
    ended = ddu(packages, "analyze", "--no-report", run)
    assert ended.returncode == 0, ended.stderr
    (_, analysed) = json.loads((run / "summary.json").read_text())["flows"]
    assert analysed["received_payload_bytes"] == pulse["received_bytes"]
    again = ccu(packages, "rerun", run, "--dry-run")
    assert again.returncode == 0, again.stderr
    assert "pulse: '50'" in again.stdout
