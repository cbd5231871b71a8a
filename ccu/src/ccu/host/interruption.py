# SPDX-License-Identifier: Apache-2.0
"""Interruption by a signal: noted when it comes, acted on where everything is in order."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible(note: Callable[[str], None]) -> Iterator[None]:
    """Call `note` with the name of each of SIGNALS that comes. In another thread than the first,
    which alone gets signals, nothing is noted.

    An exception in the handler itself could leave a lock of subprocess held and block the caller.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner = os.getpid()

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != owner:
            # A fork (pyroute2 makes some, and ends them so) must not clean up the run.
            os._exit(128 + number)
        note(signal.Signals(number).name)

    before = [signal.signal(one, interrupt) for one in SIGNALS]
    try:
        yield
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)
