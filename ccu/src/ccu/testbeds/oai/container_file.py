# SPDX-License-Identifier: Apache-2.0
"""Files of a container, read through /proc/<pid>/root: no process is started there, and it needs no
mount.

Its links are its own: followed by path, an absolute one would lead to a file of this machine.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from ccu.host.contain import linux
from ddu.console import input_file


def opened(pid: int | None, path: str) -> BinaryIO:
    """Return a regular file of the container whose process this is, opened; `path` is below its
    root folder. Raises OSError, and FileNotFoundError where the process has ended."""
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = linux.open_in_root(root, path, input_file.READING)
    finally:
        os.close(root)
    return input_file.regular(descriptor, Path(path))
