# SPDX-License-Identifier: Apache-2.0
"""The one way in which tests wait: for a state, however long a busy machine takes to reach it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

from testsupport.prepared import Started

State = TypeVar("State")
_PATIENCE_S = 600.0
_PAUSE_S = 0.05


def until(
    state: Callable[[], State], running: Started | subprocess.Popen[str] | None = None
) -> State:
    """Return the state once there is one. Fail if there never is, or if `running`, which brings it
    about, ends without it."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        ended = running is not None and running.poll() is not None
        if reached := state():
            return reached
        assert not ended, running.printed if isinstance(running, Started) else "it has ended"
        assert time.monotonic() < deadline, f"not within {_PATIENCE_S:.0f} s"
        time.sleep(_PAUSE_S)
