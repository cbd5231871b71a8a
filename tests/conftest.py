# SPDX-License-Identifier: Apache-2.0
"""The fixtures of the end-to-end tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed_testing.runs import Runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs in real time, over network namespaces."""
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    return Runs(tmp_path_factory.mktemp("runs"), "emulated")


@pytest.fixture
def ours() -> Callable[[], set[str]]:
    """Return our resources on the machine: namespaces, state files, congestion controls."""

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
