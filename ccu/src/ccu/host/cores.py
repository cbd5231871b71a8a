# SPDX-License-Identifier: Apache-2.0
"""The cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def allowed() -> int:
    """Return how many cores this process may use: its affinity, and a container's limit."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota_us, period_us = _QUOTA.read_text().split()
        return max(1, min(cores, int(quota_us) // int(period_us)))
    except (OSError, ValueError):  # No cgroup, or one without a limit: `max`.
        return cores
