# SPDX-License-Identifier: Apache-2.0
"""Faults in each command that writes files; `make faults` injects every one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def injected(*words: str) -> str:
    """Inject faults, of which none may have a wrong outcome; return how many had which."""
    command = [sys.executable, "-m", "testsupport.faults", *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "wrong outcomes: 0" in ran.stdout
    return ran.stdout


def test_a_command_that_meets_a_fault_leaves_nothing_half_written() -> None:
    """Two of each, drawn at random: an end (killed, or power lost), and an error of a call."""
    injected("--sample", "2", "--seed", "36")


def test_an_end_after_any_rename_leaves_each_run_whole_or_unfinished(tmp_path: Path) -> None:
    """To `ddu verify`; what is not on disk by then is lost, and the next command works."""
    journal = str(tmp_path / "journal")
    counts = injected("--kind", "power", "--journal", journal, "analyze", "campaign")
    outcomes = re.findall(r"^(\w+) +power +(\w+)", counts, re.MULTILINE)
    assert outcomes == [("analyze", "killed"), ("campaign", "killed")]
