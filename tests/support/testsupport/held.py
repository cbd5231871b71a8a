# SPDX-License-Identifier: Apache-2.0
"""A run that stays at one of its stages until its test has seen enough, however long that takes."""

from __future__ import annotations

import os
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


_OF_CHILDREN = """
import sys
if "--multiprocessing-fork" in sys.orig_argv:
    exec({!r}, {{}})
"""


def in_children(until_there: Path, folder: Path) -> dict[str, str]:
    """Return variables for a process, such as Dask's worker, that does its runs in processes that
    multiprocessing starts: these runs end only once the file is there.

    `folder` is for the module that Python imports when it starts."""
    (folder / "sitecustomize.py").write_text(_OF_CHILDREN.format(after_traffic(until_there)))
    others = filter(None, [os.environ.get("PYTHONPATH")])
    return {"PYTHONPATH": os.pathsep.join([str(folder), *others])}
