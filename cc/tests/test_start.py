# SPDX-License-Identifier: Apache-2.0
"""The start of a policy, of which each page and system call costs in virtual time."""

import subprocess
import sys


def test_its_command_line_needs_no_libraries_for_archives() -> None:
    """They are a tenth of the start. The help of argparse loads them to ask for a terminal."""
    seen = "from ccplane import __main__; __main__._parser(); import sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "argparse" in loaded
    assert not loaded & {"shutil", "bz2", "lzma"}
