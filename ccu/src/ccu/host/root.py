# SPDX-License-Identifier: Apache-2.0
"""The check for root, which network namespaces and devices need."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from ddu.console.problems import refusal


def need_root(command: str | None = None) -> None:
    """Raise RefusedError with the command to type instead, if this is not root.

    None means the command that was typed, with the program's path: sudo looks in others than the
    user's.
    """
    if os.geteuid() != 0:
        if command is None:
            command = shlex.join([str(Path(sys.argv[0]).resolve()), *sys.argv[1:]])
        raise refusal("network namespaces and devices need root", f"type: sudo {command}")
