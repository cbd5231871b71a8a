# SPDX-License-Identifier: Apache-2.0
"""A process that runs a function of ours: what breaks it does not break the one that starts it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection

from ccu.host import processes
from ddu import interpreter

_PATIENCE_S = 30.0


class Child:
    """A process that calls `target` with its end of `connection`. It ends with this one, however
    that ends; Ctrl-C does not reach it."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        # Not a fork: displays and libraries have threads.
        context = interpreter.safe(get_context("spawn"))
        self.connection, inside = context.Pipe()
        self._process = context.Process(target=_begin, args=(target, inside, os.getpid()))
        # Until the process has a session of its own, Ctrl-C would reach it as well.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        inside.close()

    def interrupt(self) -> None:
        """Ask the process by SIGTERM to end what it does."""
        self._process.terminate()

    def end(self) -> str:
        """Close the connection, on which the process ends, by SIGKILL if it does not; return how
        it ended, as the predicate of a sentence."""
        self.connection.close()
        self._process.join(_PATIENCE_S)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode
        assert code is not None
        how = processes.ending_text(code)
        return f"{how}, as when memory runs out" if code == -signal.SIGKILL else how


def _begin(target: Callable[[Connection], None], connection: Connection, parent: int) -> None:
    os.setsid()
    processes.end_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    target(connection)
