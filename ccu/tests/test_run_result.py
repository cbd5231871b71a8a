# SPDX-License-Identifier: Apache-2.0
"""The last output of `ccu run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ccu.cli.results import Results

_FLOW = {
    **{"id": "f0", "cc": "cubic", "cc_read_back": "cubic", "direction": "dl"},
    **{"received_bytes": 1_000_000, "with_drain_s": 1.0},
}


@pytest.mark.parametrize(
    ("captures", "expected"),
    [
        ([{"host": "server"}], "next: ddu analyze"),
        ([], "no capture: it cannot be analysed; its measurements are in raw/"),
    ],
)
def test_the_next_step_is_one_that_can_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], captures: list[Any], expected: str
) -> None:
    content = {"flows": [_FLOW], "verdict": "valid", "verdict_reasons": [], "captures": captures}
    (tmp_path / "run.json").write_text(json.dumps(content))
    Results(analyse=False).show(tmp_path)
    printed = capsys.readouterr().out
    assert expected in printed
    assert ("ddu analyze" in printed) == bool(captures)
    assert printed.splitlines()[-1] == f"run: {tmp_path}"
