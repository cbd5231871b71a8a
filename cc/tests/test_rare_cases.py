# SPDX-License-Identifier: Apache-2.0
"""Sources of congestion controls, called by a program that plays the kernel: cases that are rare
on a link, such as timeouts that were none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent
CC = PROGRAMS.parent
COMPILER = ("gcc", "-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unused-function",
            "-fsanitize=undefined", "-fno-sanitize-recover", "-I", CC,
            "-I", CC / "bpf", "-I", PROGRAMS)  # fmt: skip


@pytest.mark.parametrize("source", ["plane", "bbr", "bbr2", "copa"])
def test_rare_cases(source: str, tmp_path: Path) -> None:
    program = tmp_path / source
    subprocess.run([*COMPILER, "-o", program, PROGRAMS / f"{source}.c"], check=True)
    said = subprocess.run([program], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
