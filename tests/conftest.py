# SPDX-License-Identifier: Apache-2.0
"""The fixtures of the end-to-end tests."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ccplane.loader.registration import registered
from testsupport.runs import Runs
from testsupport.virtual_time import PROGRAM, VirtualRun, prepare

ROOT = Path(__file__).parents[1]
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs in real time, over network namespaces."""
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    return Runs(tmp_path_factory.mktemp("runs"), "emulated")


@pytest.fixture(scope="session")
def kernel() -> Path:
    """The kernel's path; skips where there is none."""
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built (make build)")
    doctor = subprocess.run([PROGRAM, "virtual", "doctor"], capture_output=True, text=True)
    if doctor.returncode != 0:
        pytest.skip(doctor.stderr.strip())
    return Path(json.loads(doctor.stdout)["kernel"])


@pytest.fixture(scope="session")
def experiments(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Experiments of `ccu run` in virtual time, each made and analysed once."""
    return Runs(tmp_path_factory.mktemp("experiments"), "virtual")


@pytest.fixture
def virtual(kernel: Path, tmp_path: Path) -> Callable[..., VirtualRun]:
    """Runs a plan: `virtual(plan, name=…, scenario=…, before=[…], link keys …)`."""

    def run(
        plan: dict[str, Any], name: str = "run", before: tuple[str, ...] = (), **link: Any
    ) -> VirtualRun:
        file = prepare(tmp_path / name, plan, **link)
        result = subprocess.run(
            [*before, PROGRAM, "virtual", "run", file], capture_output=True, text=True, timeout=600
        )
        return VirtualRun(file.parent, result)

    return run


@pytest.fixture
def ours() -> Callable[[], set[str]]:
    """Return our resources on the machine: namespaces, state files, congestion controls."""

    def look() -> set[str]:
        namespaces = subprocess.run(
            ["ip", "netns", "list"], capture_output=True, text=True, check=True
        ).stdout.split()
        states = Path("/run/ccu").glob("*.json") if Path("/run/ccu").exists() else []
        return (
            {f"namespace {name}" for name in namespaces if name.startswith("ccu-")}
            | {f"state {path.name}" for path in states}
            | ({"congestion control reminis"} if _holder_of_reminis() == OURS else set())
        )

    return look


@pytest.fixture
def reminis() -> None:
    """Wait while somebody else on this machine, whose kernel has one Reminis, uses it."""
    deadline = time.monotonic() + 300
    while _holder_of_reminis() == SOMEBODY_ELSE:
        if time.monotonic() > deadline:
            pytest.skip("another user of this machine has used reminis for 5 minutes")
        time.sleep(0.2)


NOBODY, OURS, SOMEBODY_ELSE = range(3)


def _holder_of_reminis() -> int:
    """The process that registered it; without one, it was left behind, as far as we know by us."""
    if "reminis" not in AVAILABLE.read_text().split():
        return NOBODY
    pid = registered("reminis", "reminis_testbed").pid
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return OURS
    return OURS if str(ROOT / "kmod/loader") in command else SOMEBODY_ELSE
