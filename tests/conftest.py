# SPDX-License-Identifier: Apache-2.0
"""The fixtures of the end-to-end tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed_testing.runs import Runs

ATTEMPTS = 4


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Try a failed test of `runs` again over new runs, if the machine, which others use as well,
    degraded the runs that it used: such runs do not disprove a law."""
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
