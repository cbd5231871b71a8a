# SPDX-License-Identifier: Apache-2.0
"""The locks that keep campaigns and runs from using a testbed of this machine at the same time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from ccu.host.resources import FOLDER, make_own
from ddu.console.problems import refusal

_POLL_S = 0.5


@contextmanager
def held(testbed: str, wait: bool, report: Callable[[str], None], slots: int = 1) -> Iterator[None]:
    """Hold one of the machine's `slots` locks of `testbed`; the kernel frees it if the process
    dies.

    Reports once what it waits for, if it does. Raises RefusedError without `wait` when all are
    taken.
    """
    make_own(FOLDER)
    files = [(FOLDER / f"testbed-{testbed}-{slot}.lock").open("a+") for slot in range(slots)]
    try:
        reported = False
        while (own := next(filter(_try_lock, files), None)) is None:
            if not wait:
                raise refusal(
                    f"testbed {testbed} is in use by {_owners(files)}", "wait until it ends"
                )
            if not reported:
                report(f"waiting: testbed {testbed} is in use by {_owners(files)}")
                reported = True
            time.sleep(_POLL_S)
        own.truncate(0)
        own.write(str(os.getpid()))
        own.flush()
        try:
            yield
        finally:
            fcntl.flock(own, fcntl.LOCK_UN)  # Not only closed: a fork may have it, too.
    finally:
        for file in files:
            file.close()


@contextmanager
def turn(alone: str, report: Callable[[str], None]) -> Iterator[None]:
    """Hold what this machine has only once (`Driver.alone`); hold nothing if that is empty."""
    if not alone:
        yield
        return
    with held(alone, True, lambda line: report(f"{line} (Ctrl-C aborts)")):
        yield


def _try_lock(file: IO[str]) -> bool:
    """Lock a file, and return whether that worked: False if another process has it locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owners(files: Sequence[IO[str]]) -> str:
    """Return the processes whose numbers the locked files hold, as part of a sentence."""
    pids = []
    for file in files:
        file.seek(0)
        pids.append(f"process {file.read().strip() or '?'}")
    return ", ".join(pids)
