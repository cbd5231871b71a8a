# SPDX-License-Identifier: Apache-2.0
"""A worker's runs in the store while they go on, where only the worker sees their files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccu.host import processes, programs

STORE = "DDU_STORE"
"""The variable that names the store; a worker without it shows nothing."""

_LAST_ROWS_S = 3.0
_LEAST_PRIORITY = 19


@contextmanager
def shown_live(cell: Path) -> Iterator[None]:
    """Has `ddu` follow the run that is made in `cell` meanwhile; whatever becomes of that, the run
    is none the worse."""
    ddu = programs.find("ddu")
    if ddu is None or not os.environ.get(STORE):
        yield
        return
    dying = processes.dying_with_us()

    def yielding() -> None:
        dying()
        os.nice(_LEAST_PRIORITY)  # The link beside it runs in real time.

    follower = subprocess.Popen(
        [ddu, "publish", "--live", "--no-tables", "--runs", cell],
        stdin=subprocess.DEVNULL,
        preexec_fn=yielding,
    )
    try:
        yield
        if any(cell.glob("*/run.json")):
            follower.wait(_LAST_ROWS_S)
    except subprocess.TimeoutExpired:
        pass  # The store is away, or slow; the client publishes the run.
    finally:
        follower.kill()
        follower.wait()
