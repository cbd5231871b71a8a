# SPDX-License-Identifier: Apache-2.0
"""The repository of docs/ci.md, whose tests pass as an ordinary user without capabilities."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/ci-over-5g"
WORKFLOWS = [ROOT / ".github/workflows/ci.yml", EXAMPLE / ".github/workflows/over-5g.yml"]
NOBODY = 65534
POWERLESS = ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
ORDINARY = (*POWERLESS, "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")


def without_rights() -> tuple[str, ...]:
    """Return the command by which root becomes an ordinary user; where such a user cannot read
    Python or this tree, it stays root and drops its capabilities."""
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv, to drop capabilities")
    # The shell is started with the rights that are left; setpriv itself still has more.
    reads = (*ORDINARY, "sh", "-c", f"{sys.executable} -c 'import ddu'")
    readable = subprocess.run(reads, capture_output=True).returncode == 0
    return ORDINARY if readable else POWERLESS


def test_its_tests_pass_without_any_right(kernel: Path, tmp_path: Path) -> None:
    drop = without_rights()
    repository = shutil.copytree(EXAMPLE, tmp_path / "repository")
    if drop == ORDINARY:
        for path in (repository, *repository.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        for folder in (tmp_path, *tmp_path.parents[:-2]):
            folder.chmod(folder.stat().st_mode | 0o055)
    pytest_options = ("-q", "-p", "no:cacheprovider", "--basetemp", repository / "tmp")
    tests = subprocess.run(
        [*drop, sys.executable, "-m", "pytest", *pytest_options, "test_over_5g.py"],
        cwd=repository,
        env={**os.environ, "HOME": str(repository), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert "3 passed" in tests.stdout


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_pin_their_actions_and_run_what_exists(file: Path) -> None:
    workflow: dict[Any, Any] = yaml.safe_load(file.read_text())
    # YAML 1.1 takes the key `on` for a truth value.
    assert {"name", True, "permissions", "jobs"} <= set(workflow)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    for step in steps:
        assert ("uses" in step) != ("run" in step)
        assert re.search(r"@[0-9a-f]{40}$", step.get("uses", "@" + "0" * 40)), step
    commands = "\n".join(step.get("run", "") for step in steps)
    for program in re.findall(r"(?:testbed/)?((?:\.ci|setup)/[\w-]+)", commands):
        assert os.access(ROOT / program, os.X_OK), program
