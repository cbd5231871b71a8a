# SPDX-License-Identifier: Apache-2.0
"""Faults drawn at random in each command that writes files; `make faults` injects every one."""

from __future__ import annotations

import subprocess
import sys


def test_a_command_that_meets_a_fault_leaves_nothing_half_written() -> None:
    """Two of each: an end (killed, or power lost), and an error of a call."""
    words = [sys.executable, "-m", "testsupport.faults", "--sample", "2", "--seed", "36"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "wrong outcomes: 0" in ran.stdout
