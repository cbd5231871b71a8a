# SPDX-License-Identifier: Apache-2.0
"""The kernel in virtual time, as nr-link reports it."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import NamedTuple

from ccu.host import programs
from ddu.console.problems import Problem, RefusedError


class Kernel(NamedTuple):
    """A kernel that can run here."""

    path: str
    congestion_controls: frozenset[str]


def examine() -> Kernel:
    """Return the kernel. Raises RefusedError if it is not built or cannot run here."""
    command = [programs.require("nr-link"), "virtual", "--problems", "json", "doctor"]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode:
        raise RefusedError(map(Problem.from_json, json.loads(asked.stderr)))
    answer = json.loads(asked.stdout)
    return Kernel(answer["kernel"], frozenset(answer["congestion_controls"]))


@cache
def congestion_controls() -> frozenset[str]:
    """Return the names that the kernel has; none if there is no kernel that can run here."""
    try:
        return examine().congestion_controls
    except RefusedError:
        return frozenset()
