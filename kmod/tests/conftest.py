# SPDX-License-Identifier: GPL-2.0-only
"""The program that sends and receives in the tests of module and BPF program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "qemu" / "traffic.c"


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled program."""
    program = tmp_path_factory.mktemp("traffic") / "traffic"
    subprocess.run(["cc", "-O2", "-Wall", str(SOURCE), "-o", str(program)], check=True)
    program.parent.chmod(0o755)  # Virtual hosts may run it as another user.
    return program
