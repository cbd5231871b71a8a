# SPDX-License-Identifier: Apache-2.0
"""The cost of a run for the machine, which its own clock does not show in virtual time."""

from __future__ import annotations

import resource
import time
from typing import NamedTuple


class Cost(NamedTuple):
    """Wall-clock time, and CPU time of this process and of those that it started, in seconds."""

    wall_s: float
    cpu_s: float

    @classmethod
    def so_far(cls) -> Cost:
        """Return the cost since some instant before this process was started."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return cls(time.monotonic(), sum(one.ru_utime + one.ru_stime for one in used))

    def since(self, began: Cost) -> dict[str, float]:
        """Return run.json's `cost`."""
        return {
            "wall_s": round(self.wall_s - began.wall_s, 3),
            "cpu_s": round(self.cpu_s - began.cpu_s, 3),
        }
