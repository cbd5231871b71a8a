# SPDX-License-Identifier: Apache-2.0
"""The locks that keep campaigns from using a testbed of this machine at the same time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from ccu.host.resources import FOLDER
from ddu.console.problems import refusal

_POLL_S = 0.5


@contextmanager
def held(testbed: str, wait: bool, report: Callable[[str], None], slots: int = 1) -> Iterator[None]:
    """Hold one of the machine's `slots` locks of `testbed`; the kernel frees it if the process
    dies.

    Raises RefusedError without `wait` when all are taken.
    """
    FOLDER.mkdir(mode=0o755, exist_ok=True)
    files = [(FOLDER / f"testbed-{testbed}-{slot}.lock").open("a+") for slot in range(slots)]
    try:
        reported = False
        while (mine := next(filter(_taken, files), None)) is None:
            if not wait:
                raise refusal(
                    f"testbed {testbed} is in use by {_owners(files)}", "wait until it ends"
                )
            if not reported:
                report(
                    f"waiting: testbed {testbed} is in use by {_owners(files)} "
                    "(Ctrl-C aborts; --no-wait does not wait)"
                )
                reported = True
            time.sleep(_POLL_S)
        mine.truncate(0)
        mine.write(str(os.getpid()))
        mine.flush()
        yield
    finally:
        for file in files:
            file.close()


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owners(files: Sequence[IO[str]]) -> str:
    pids = []
    for file in files:
        file.seek(0)
        pids.append(f"process {file.read().strip() or '?'}")
    return ", ".join(pids)
