# SPDX-License-Identifier: Apache-2.0
"""The installed commands, run as a user runs them, and runs that tests share."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.api import analyze

BIN = Path(sys.executable).parent


def command(name: str, *args: str, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
    """Run one of our commands and keep what it says."""
    return subprocess.run(
        [BIN / name, *args], capture_output=True, text=True, timeout=timeout_s, check=False
    )


Arguments = tuple[str, ...]


class Runs:
    """Experiments of `ccu run` in a directory of their own, each made once a session."""

    def __init__(self, directory: Path, testbed: str) -> None:
        self.directory = directory
        self.testbed = testbed
        self._made: dict[Arguments, Path] = {}

    def __call__(self, *args: str) -> Path:
        """The directory of `ccu run ARGS`, analysed if it has captures."""
        if args not in self._made:
            self._made[args] = self._run(args)
            if "--no-capture" not in args:
                # As `ddu analyze --no-report`, which would import for two seconds each time.
                analyze(self._made[args], report=False)
        return self._made[args]

    def summary(self, *args: str) -> dict[str, Any]:
        """Its summary.json."""
        return json_of(self(*args) / "summary.json")

    def table(self, *args: str) -> pd.DataFrame:
        """Its aligned table, in 20 ms bins."""
        return pd.read_parquet(self(*args) / "tables/aligned.parquet")

    def _run(self, args: Arguments) -> Path:
        output = Path(tempfile.mkdtemp(dir=self.directory))
        ran = command("ccu", "run", "--testbed", self.testbed, *args, "--output", str(output))
        assert ran.returncode == 0, f"ccu run {' '.join(args)}\n{ran.stdout}\n{ran.stderr}"
        (run,) = output.iterdir()
        return run


def json_of(file: Path) -> dict[str, Any]:
    """A file that holds a JSON object."""
    content: dict[str, Any] = json.loads(file.read_text())
    return content
