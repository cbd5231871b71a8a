# SPDX-License-Identifier: Apache-2.0
"""The analysis of a campaign's runs, in a process of its own.

A run that breaks a library or takes all memory costs its own tables, not the campaign; and the
libraries are loaded once, outside the process of the runs.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from ccu.host.child import Child


class Answer(NamedTuple):
    """The end of an analysis, whose tables are in the run's directory."""

    problem: str | None
    """The reason why there are no tables; None if they are complete."""
    cpu_s: float = 0.0


class Analyst:
    """A process that analyses runs, started with the first; a context manager that ends it."""

    def __init__(self) -> None:
        self._child: Child | None = None

    def __enter__(self) -> Analyst:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.interrupt()
            self._child.end()
            self._child = None

    def analyze(self, run: Path, *, report: bool = False) -> Answer:
        """Write tables and summary of the run; with `report`, also its page and figures."""
        child = self._child = self._child or Child(_analyze_each)
        try:
            child.connection.send((run.resolve(), report))
            answer: Answer = child.connection.recv()
        except (EOFError, OSError):  # The next run gets another process.
            self._child = None
            return Answer(f"its analysis {child.end()}")
        return answer


def _analyze_each(connection: Connection) -> None:
    """Analyse the runs that come, until the connection is closed."""
    # SIGTERM raises an exception, so that an analysis removes what it has half written.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # The warnings of libraries would disturb the campaign's display.
        os.dup2(nowhere, stream)
    from ddu.campaign.analysis import problem_of

    with suppress(EOFError, OSError):
        while True:
            run, report = connection.recv()
            began_s = time.process_time()
            problem = problem_of(run, report)
            connection.send(Answer(problem, round(time.process_time() - began_s, 3)))
