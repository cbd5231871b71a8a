# SPDX-License-Identifier: Apache-2.0
"""The last output of `ccu run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ccu.cli.results import NotAnalysed, Results
from ddu.cli.results import Ending

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


def test_a_flow_whose_bytes_came_at_once_has_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A volume that fits into a packet (quic:volume=1kB) was divided by a time of zero."""
    flow = _FLOW | {"received_bytes": 1000, "with_drain_s": 0.0}
    content = {"flows": [flow], "verdict": "valid", "verdict_reasons": [], "captures": []}
    (tmp_path / "run.json").write_text(json.dumps(content))
    Results(analyse=False).show(tmp_path)
    assert "f0  cubic  dl  1.0 kB received" in capsys.readouterr().out


def test_a_run_that_cannot_be_analysed_is_json_where_that_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was printed, which no program can read."""
    capture = {"host": "server", "role": "sender", "file": "raw/sender.pcap"}
    ends = {end: {"host": "server", "address": "10.45.0.1"} for end in ("sender", "receiver")}
    recorded = {"flows": [{**_FLOW, **ends}], "verdict": "valid", "verdict_reasons": []}
    content = {"schema_version": 1, "run": "one", "status": "finished", "captures": [capture]}
    content["experiment"] = {"cc": "cubic", "direction": "dl"}
    (tmp_path / "run.json").write_text(json.dumps(content | recorded))
    with pytest.raises(NotAnalysed, match="the run was recorded") as error:
        Results(ending=Ending(as_json=True)).show(tmp_path)
    printed = json.loads(capsys.readouterr().out)
    failure = {"stage": "analysis", "reason": error.value.reason}
    assert printed == {
        "directory": str(tmp_path), "report": None, **recorded, "failure": failure,
    }  # fmt: skip
    assert "sender.pcap" in failure["reason"]
    assert error.value.exit_code == 1
    with pytest.raises(NotAnalysed):
        Results().show(tmp_path)
    assert capsys.readouterr().out == ""
