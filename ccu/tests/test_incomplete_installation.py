# SPDX-License-Identifier: Apache-2.0
"""An installation without this project's entry points is one error with the fix."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
from importlib import metadata
every = [entry for package in metadata.distributions() for entry in package.entry_points]
others = metadata.EntryPoints(entry for entry in every if entry.group != GROUP)
metadata.entry_points = lambda **chosen: others.select(**chosen)
sys.argv = ["ccu", "run", "--dry-run", "--cc", "cubic"]
from ccu.cli.main import main
main()
"""


@pytest.mark.parametrize("group", ["ccu.testbeds", "ccu.traffic", "ccu.congestion"])
def test_it_is_refused_with_the_fix(group: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", f"GROUP = {group!r}{WITHOUT}"], capture_output=True, text=True
    )
    assert ended.returncode == 2, ended.stderr
    [line] = ended.stderr.splitlines()
    assert line.startswith("ccu: error: this installation is incomplete: ")
    assert group in line
    assert "un `make build` in " in line
