# SPDX-License-Identifier: Apache-2.0
"""The GitHub action's step `Run`, with a `ccu` that only makes a report where it is asked to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CCU = """#!/bin/bash
folder=runs report=1
while [ $# -gt 0 ]; do
  case $1 in
    --output) folder=$2; shift ;;
    --output=*) folder=${1#*=} ;;
    --no-report) report= ;;
  esac
  echo "$1" >>words
  shift
done
mkdir -p "$folder/one"
[ -z "$report" ] || touch "$folder/one/report.html"
"""


@pytest.mark.parametrize(
    ("arguments", "report", "code"),
    [
        ("run --cc reminis", "runs/one/report.html", 0),
        ("run --output 'my results'", "my results/one/report.html", 0),
        ("run --output=results", "results/one/report.html", 0),
        ("run --no-report", "", 0),
        ("run --scenario ./Bob's.yaml", None, 1),
    ],
)
def test_the_report_is_found_where_the_arguments_put_it(
    tmp_path: Path, arguments: str, report: str | None, code: int
) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "run"]
    ccu = tmp_path / "bin" / "ccu"
    ccu.parent.mkdir()
    ccu.write_text(CCU)
    ccu.chmod(0o755)
    output = tmp_path / "output"
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            "PATH": f"{ccu.parent}:/usr/bin:/bin",
            "ARGUMENTS": arguments,
            "GITHUB_OUTPUT": str(output),
        },
    )
    assert (ran.returncode != 0) == (code != 0)
    assert (output.read_text() if output.exists() else None) == (
        None if report is None else f"report={report}\n"
    )
    assert (tmp_path / "words").exists() == (code == 0)
