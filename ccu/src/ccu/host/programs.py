# SPDX-License-Identifier: Apache-2.0
"""Where the programs are that ccu runs, and which versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from testbed_console.problems import refusal

REPOSITORY = Path(__file__).resolve().parents[4]
"""The checkout that this package is installed from (make build installs it editable)."""

_BUILT_HERE = ("nr-link", "socket-sampler", "reminis-bpf")
_INSTALLED_HERE = ("ccu", "ddu", "dask")
_PLACES = (
    Path(sys.executable).parent,
    REPOSITORY / "target" / "release",
    REPOSITORY / "kmod" / "build",
)
_VERSION_OPTION = {"ip": "-V"}


def find(name: str) -> Path | None:
    """The program `name`: beside this Python, then where the repository builds it, then on PATH."""
    if name in _BUILT_HERE + _INSTALLED_HERE:
        for place in _PLACES:
            if os.access(place / name, os.X_OK) and (place / name).is_file():
                return place / name
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    return Path(found) if found else None


def mend(name: str) -> str:
    """What makes a missing program appear."""
    if name in _BUILT_HERE:
        return f"run `make build` in {REPOSITORY}"
    package = {"ip": "iproute2", "ssh": "openssh-client", "setpriv": "util-linux"}.get(name, name)
    return f"install it: sudo apt-get install {package}"


def require(name: str) -> str:
    """The path of the program `name`. Raises RefusedError."""
    path = find(name)
    if path is None:
        raise refusal(f"{name}: not found", str(mend(name)))
    return str(path)


def version(name: str) -> str | None:
    """The first line that the program says of its version; None if it is absent or says nothing."""
    path = find(name)
    if path is None:
        return None
    option = _VERSION_OPTION.get(name, "--version")
    try:
        said = subprocess.run([path, option], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (said.stdout or said.stderr).strip().splitlines()
    return lines[0] if lines and said.returncode == 0 else None
