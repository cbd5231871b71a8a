# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the installed commands, run as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ddu.analyze import analyze

BIN = Path(sys.executable).parent


def command(name: str, *args: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Run one of our commands and keep what it says."""
    return subprocess.run(
        [BIN / name, *args], capture_output=True, text=True, timeout=timeout_s, check=False
    )


class Runs:
    """Runs experiments in a directory of its own, each at most once a session."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._made: dict[tuple[str, ...], Path] = {}

    def __call__(self, *args: str) -> Path:
        """The directory of `ccu run ARGS`, analysed."""
        if args not in self._made:
            self._made[args] = self._run(args)
        return self._made[args]

    def summary(self, *args: str) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self(*args) / "summary.json").read_text())
        return loaded

    def _run(self, args: tuple[str, ...], attempts: int = 5) -> Path:
        # The machine is shared: a run that it could not hold says so, and is no evidence.
        for _ in range(attempts):
            output = self.directory / f"{len(list(self.directory.iterdir())):03d}"
            ran = command("ccu", "run", *args, "--output", str(output))
            assert ran.returncode == 0, f"ccu run {' '.join(args)}\n{ran.stdout}\n{ran.stderr}"
            (run,) = output.iterdir()
            # As `ddu analyze --no-report`, which would import for two seconds each time.
            if analyze(run, report=False)["verdict"] == "valid":
                break
        return run


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
