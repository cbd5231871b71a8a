# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the installed commands, run as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ddu.api import analyze

BIN = Path(sys.executable).parent
ATTEMPTS = 4


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
            ran = command("ccu", "run", *args, "--output", str(output))
        assert ran.returncode == 0, f"ccu run {' '.join(args)}\n{ran.stdout}\n{ran.stderr}"
        (run,) = output.iterdir()
        return run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test of `runs` that fails is tried again over new ones, if the machine, which others use as
    well, did not hold those that it looked at: such runs are no evidence against a law."""
    runs = pyfuncitem.funcargs.get("runs")
    if not isinstance(runs, Runs):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    for attempt in range(1, ATTEMPTS + 1):
        runs.asked.clear()
        try:
            pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
        except Exception:
            if attempt == ATTEMPTS or not runs.forget_what_is_no_evidence():
                raise
        else:
            return True
    return True


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def ours() -> Callable[[], set[str]]:
    """What of ours is on the machine: namespaces, state files, registered congestion controls."""

    def look() -> set[str]:
        namespaces = subprocess.run(
            ["ip", "netns", "list"], capture_output=True, text=True, check=True
        ).stdout.split()
        states = Path("/run/ccu").glob("*.json") if Path("/run/ccu").exists() else []
        kernel = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
        return (
            {f"namespace {name}" for name in namespaces if name.startswith("ccu-")}
            | {f"state {path.name}" for path in states}
            | {f"congestion control {name}" for name in kernel if name == "reminis"}
        )

    return look
