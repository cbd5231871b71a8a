# SPDX-License-Identifier: Apache-2.0
"""An example of the documentation, installed as a package of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from testsupport import prepared

EXAMPLES = Path(__file__).parents[3] / "examples"


def install(folder: Path, module: str, entry_point: str, under: str = "") -> Path:
    """Put the example into a folder of packages, with its entry point `group: name = value`.

    `under`: its folder in examples/."""
    group, _, line = entry_point.partition(": ")
    installed(folder, module, group, line)
    shutil.copy(EXAMPLES / under / f"{module}.py", folder)
    return folder


def installed(folder: Path, package: str, group: str, entry_point: str) -> None:
    """Let a folder of packages say that it has this one, with an entry point `name = value`."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry_point}\n")


def ccu(packages: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `ccu` with those packages installed."""
    return prepared.command("ccu", *arguments, environment={"PYTHONPATH": str(packages)})


def ddu(packages: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `ddu` with those packages installed."""
    return prepared.command("ddu", *arguments, environment={"PYTHONPATH": str(packages)})


def python(packages: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run this Python with those packages installed."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=os.environ | {"PYTHONPATH": str(packages)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
