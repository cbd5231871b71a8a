# SPDX-License-Identifier: Apache-2.0
"""The publication of a worker's current runs to the store, as only the worker sees their files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccu.host import processes, programs

STORE = "DDU_STORE"
"""The variable that names the store; a worker without it publishes nothing."""

_LAST_ROWS_S = 3.0
_NICENESS = 5
"""A third of the processor time of others, by the kernel's weights: at 19, a 70th, eight busy
processes beside it kept a run of a second from the store for ten minutes."""


@contextmanager
def shown_live(cell: Path) -> Iterator[None]:
    """Let `ddu` follow the run in `cell` meanwhile; its failures do not affect the run."""
    ddu = programs.find("ddu")
    if ddu is None or not os.environ.get(STORE):
        yield
        return
    dying = processes.end_with_parent()

    def yielding() -> None:
        dying()
        os.nice(_NICENESS)  # The hosts of the run beside it come first.

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
        pass  # The store is unreachable or slow; the client publishes the run later.
    finally:
        follower.kill()
        follower.wait()
