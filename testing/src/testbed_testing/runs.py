# SPDX-License-Identifier: Apache-2.0
"""The installed commands, run as a user runs them, and runs that tests share."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ddu.api import analyze

BIN = Path(sys.executable).parent


def command(name: str, *args: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Run one of our commands and keep what it says."""
    return subprocess.run(
        [BIN / name, *args], capture_output=True, text=True, timeout=timeout_s, check=False
    )


Arguments = tuple[str, ...]


class Runs:
    """Runs experiments in a directory of its own, each at most once a session."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.asked: set[Arguments] = set()
        """What the test that goes on has looked at."""
        self._made: dict[Arguments, Path] = {}
        self._analysed: set[Path] = set()
        self._reminis = threading.Lock()

    def __call__(self, *args: str) -> Path:
        """The directory of `ccu run ARGS`, analysed."""
        self.asked.add(args)
        if args not in self._made:
            self._made[args] = self._run(args)
        run = self._made[args]
        if run not in self._analysed:
            # As `ddu analyze --no-report`, which would import for two seconds each time.
            analyze(run, report=False)
            self._analysed.add(run)
        return run

    def make(self, wanted: list[Arguments]) -> None:
        """Those that are not made yet, two at a time, for laws that bear it."""
        missing = [args for args in dict.fromkeys(wanted) if args not in self._made]
        with ThreadPoolExecutor(2) as pool:
            self._made |= zip(missing, pool.map(self._run, missing), strict=True)

    def summary(self, *args: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self(*args) / "summary.json").read_text())
        return loaded

    def forget_what_is_no_evidence(self) -> bool:
        """Of the runs that the test looked at, those that the machine did not hold; whether there
        are any."""
        doubtful = [args for args in self.asked if self._verdict(args) != "valid"]
        for args in doubtful:
            self._made.pop(args, None)
        return bool(doubtful)

    def _verdict(self, args: Arguments) -> str:
        loaded: dict[str, Any] = json.loads((self._made[args] / "run.json").read_text())
        return str(loaded["verdict"])

    def _run(self, args: Arguments) -> Path:
        output = Path(tempfile.mkdtemp(dir=self.directory))
        # The kernel has one Reminis.
        with self._reminis if "reminis" in args else nullcontext():
            ran = command("ccu", "run", "--testbed", "emulated", *args, "--output", str(output))
        assert ran.returncode == 0, f"ccu run {' '.join(args)}\n{ran.stdout}\n{ran.stderr}"
        (run,) = output.iterdir()
        return run
