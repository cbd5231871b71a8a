# SPDX-License-Identifier: Apache-2.0
"""Whether a container may have real-time priority, found by trying it in a cgroup of our own.

OpenAirInterface asks for SCHED_FIFO when it has the capability SYS_NICE, and ends if the kernel
refuses. A kernel with CONFIG_RT_GROUP_SCHED refuses in every cgroup that has no real-time runtime;
a new cgroup has none, and Docker and LXC start containers in new ones.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from functools import cache
from pathlib import Path

from ddu import interpreter

_TRY = """
import os, sys
open(sys.argv[1], "w").write(str(os.getpid()))
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    sys.exit(3)
"""
_REFUSED = 3
WITHOUT = (
    "gNB and UE share the CPUs with other programs as equals: an rfsim run is slower while others "
    "run, and a USRP loses samples"
)


def available() -> bool:
    """Return whether a process in a new cgroup may use SCHED_FIFO; False if that is unknown."""
    return state() is True


@cache
def state() -> bool | None:
    """Return the same; None if this user cannot find out."""
    hierarchy = _hierarchy(Path("/proc/mounts").read_text())
    if hierarchy is None:
        return None
    group = hierarchy / f"ccu-real-time-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        command = [*interpreter.of_code(_TRY), str(group / "cgroup.procs")]
        code = subprocess.run(command, capture_output=True).returncode
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()
    return code == 0 if code in (0, _REFUSED) else None


def _hierarchy(mounts: str) -> Path | None:
    """Return the mount point of the CPU controller: of cgroup version 1 if there is one, else 2."""
    mount_points = {}
    for line in mounts.splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            mount_points[1] = Path(point)
        elif kind == "cgroup2":
            mount_points.setdefault(2, Path(point))
    return mount_points.get(1) or mount_points.get(2)
