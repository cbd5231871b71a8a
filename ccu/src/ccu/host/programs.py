# SPDX-License-Identifier: Apache-2.0
"""The paths and versions of the programs that ccu runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from ddu import interpreter
from ddu.console.problems import refusal
from ddu.installation import build_hint

_BIN = Path(sys.executable).parent
_BUILT_HERE = ("nr-link", "socket-sampler", "quic-flow")
_VERSION_OPTION = {"ip": "-V"}


def find(name: str) -> Path | None:
    """Find program `name`: beside this Python, then on PATH."""
    beside = _BIN / name
    if beside.is_file() and os.access(beside, os.X_OK):
        return beside
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    return Path(path) if path else None


def install_hint(name: str) -> str:
    """Return an instruction that installs a missing program."""
    if name in _BUILT_HERE:
        return build_hint()
    packages = {"ip": "iproute2", "ping": "iputils-ping"}
    packages |= {"ssh": "openssh-client", "setpriv": "util-linux"}
    package = packages.get(name, name)
    return f"install it: sudo apt-get install {package}"


def shielded(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, and return how it ended. The terminal's Ctrl-C does not reach it:
    it is for ccu, which then removes what there is."""
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, start_new_session=True
    )


def require(name: str) -> str:
    """Return the path of the program `name`. Raises RefusedError."""
    path = find(name)
    if path is None:
        raise refusal(f"{name}: not found", str(install_hint(name)))
    return str(path)


def of_module(module: ModuleType) -> list[str]:
    """Return the command of a program that is one module, which imports none of ours.

    Its file is executed: `python -m` would import its packages first, which takes 0.2 s, and in
    virtual time, where each system call and page costs more, 0.7 s.
    """
    assert module.__file__
    return interpreter.of_file(module.__file__)


def version(name: str) -> str | None:
    """Return the first line of the program's version; None if it is absent or prints nothing."""
    path = find(name)
    if path is None:
        return None
    option = _VERSION_OPTION.get(name, "--version")
    try:
        completed = subprocess.run([path, option], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (completed.stdout or completed.stderr).strip().splitlines()
    return lines[0] if lines and completed.returncode == 0 else None
