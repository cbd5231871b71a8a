# SPDX-License-Identifier: Apache-2.0
"""A package whose entry point cannot be imported is named with the fix, and the rest works."""

from __future__ import annotations

from pathlib import Path

import pytest

from testsupport.example_package import installed
from testsupport.prepared import command


@pytest.mark.parametrize(
    ("group", "listed", "still_there"),
    [
        ("ccu.testbeds", "testbeds", "virtual"),
        ("ccu.congestion", "cc", "cubic"),
        ("ccu.traffic", "traffic", "udp"),
    ],
)
def test_it_is_named_and_the_rest_works(
    tmp_path: Path, group: str, listed: str, still_there: str
) -> None:
    installed(tmp_path, "half-done", group, "mine = half_done:MINE")
    (tmp_path / "half_done.py").write_text("import no_such_module\n")
    ended = command("ccu", "list", listed, environment={"PYTHONPATH": str(tmp_path)})
    assert ended.returncode == 0, ended.stderr
    assert still_there in ended.stdout
    assert ended.stderr == (
        f"warning: {group} mine (half_done:MINE) of the package half-done cannot be imported: "
        "No module named 'no_such_module'. Fix the package, or uninstall it: "
        "pip uninstall half-done\n"
    )
