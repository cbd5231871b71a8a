# SPDX-License-Identifier: Apache-2.0
"""The messages of `ccu run` for a run in virtual time that fails."""

from __future__ import annotations

import json
from pathlib import Path

from testsupport.prepared import command

LATE = ["--cc", "cubic", "--prb", "24", "--traffic", "tcp:100MB", "--duration", "1s"]


def test_a_volume_that_is_too_large_is_said_in_words_of_the_experiment(
    kernel: Path, tmp_path: Path
) -> None:
    ran = command("ccu", "run", "--testbed", "virtual", *LATE, "--output", tmp_path, "--json")
    assert ran.returncode == 1
    (directory,) = tmp_path.iterdir()
    assert "limit_s" not in ran.stderr
    assert "after 1 s of virtual time, not finished: flow f0" in ran.stderr
    assert "--duration" in ran.stderr
    assert "smaller volume" in ran.stderr
    assert f"its logs are kept in {directory}" in ran.stderr
    printed = json.loads(ran.stdout)
    failure = json.loads((directory / "run.json").read_text())["failure"]
    assert printed == {"directory": str(directory), "report": None, "failure": failure}
