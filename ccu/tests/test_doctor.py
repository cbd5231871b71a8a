# SPDX-License-Identifier: Apache-2.0
"""The output and exit code of `ccu doctor` for its findings."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ccu.cli import doctor
from ccu.cli import main as cli
from ccu.host import programs
from ccu.host.findings import Finding
from ccu.testbeds import drivers
from ccu.testbeds.oai import doctor as oai_doctor
from ddu.console.problems import Problem, RefusedError

ON = ["--testbed", "emulated"]
THERE = Finding("root", True, "user id 0")
OPTIONAL = Finding("netem", False, "not [in] this kernel", "modprobe it", needed=False)
MISSING = Finding("iperf3", False, "not found", "apt-get install iperf3")


def printed(findings: list[Finding]) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(doctor.table(findings))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_missing_optional_finding_has_its_own_mark() -> None:
    lines = [line.strip() for line in printed([THERE, OPTIONAL, MISSING]).splitlines()]
    assert [line.split()[0] for line in lines] == ["✓", "○", "→", "✗", "→"]
    assert lines[1].endswith("not [in] this kernel (optional)")
    assert "optional" not in lines[3]


@pytest.mark.parametrize(
    ("findings", "code", "printed", "following"),
    [
        ([THERE, OPTIONAL], 0, "ready for --testbed emulated", "ccu run --cc cubic"),
        (
            [THERE, OPTIONAL, MISSING, MISSING],
            1,
            "not ready for --testbed emulated: iperf3 (✗)",
            "do what stands beside each ✗",
        ),
    ],
)
def test_only_needed_findings_decide_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    findings: list[Finding],
    code: int,
    printed: str,
    following: str,
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda _output, _driver: findings)
    ran = CliRunner().invoke(cli.app, ["doctor", *ON])
    assert ran.exit_code == code
    *_, conclusion, last = ran.output.splitlines()
    assert conclusion == printed
    assert last.startswith(f"next: {following}")
    default, *listed = json.loads(CliRunner().invoke(cli.app, ["doctor", "--json", *ON]).output)
    assert default["name"] == "default testbed"
    assert [one["ok"] for one in listed] == [one.ok for one in findings]


def test_an_unknown_testbed_is_refused() -> None:
    ran = CliRunner().invoke(cli.app, ["doctor", "--testbed", "rf-sim"])
    assert isinstance(ran.exception, RefusedError)
    assert "Did you mean rfsim?" in str(ran.exception)


def test_every_missing_item_has_a_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without programs, rights, TUN and disk space, as far as the checks can see."""

    def refused(*_args: object, **_more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "operation not permitted")

    monkeypatch.setattr(programs, "find", lambda _name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(subprocess, "run", refused)
    monkeypatch.setattr("ccu.host.disk.free_bytes", lambda _folder: 10)
    findings = doctor.examine(tmp_path, drivers()["emulated"])
    missing = [one for one in findings if not one.ok]
    assert {"root", "iperf3", "nr-link", "network namespaces", "disk"} <= {
        one.name for one in missing
    }
    assert all(one.fix for one in missing)


def test_each_missing_image_is_a_line_with_its_fix() -> None:
    images = ("a:1", "b:2")

    def look() -> None:
        raise RefusedError(
            Problem(f"{one}: not found", f"type: docker pull {one}") for one in images
        )

    findings = oai_doctor._refusals("images", look)
    assert [(one.detail, one.fix) for one in findings] == [
        ("a:1: not found", "type: docker pull a:1"), ("b:2: not found", "type: docker pull b:2"),
    ]  # fmt: skip
