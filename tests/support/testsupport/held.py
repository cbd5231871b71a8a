# SPDX-License-Identifier: Apache-2.0
"""A run that stays at one of its stages until its test has seen enough, however long that takes."""

from __future__ import annotations

from pathlib import Path

_AFTER_TRAFFIC = """
import time
from pathlib import Path
from ccu.runs import capture
stop = capture.stop_captures
def when_seen(*of):
    while not Path({!r}).exists():
        time.sleep(0.05)
    stop(*of)
capture.stop_captures = when_seen
"""


def after_traffic(until_there: Path) -> str:
    """Return what `Started` executes so that the run ends only once the file is there."""
    return _AFTER_TRAFFIC.format(str(until_there))
