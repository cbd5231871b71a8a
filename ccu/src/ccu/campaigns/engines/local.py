# SPDX-License-Identifier: Apache-2.0
"""Runs on this machine, one at a time, so that they do not disturb one another."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial

from ccu.campaigns.analyst import Analyst
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener, Outcome
from ccu.campaigns.engines.job import Job, perform
from ccu.campaigns.folder import Folder
from ccu.runs import run as runs
from ccu.spec.experiment import Experiment


class Local:
    """See `ccu.campaigns.engines.Engine`."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._ended_s: float | None = None
        self.prepared: Callable[[Cell], Experiment] = lambda cell: cell.experiment
        """The function that returns the experiment of a cell, called just before its run."""

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Generator[Outcome, None, None]:
        with Analyst() as analyst:
            for cell in cells:
                listener.started(cell)
                yield self._attempt(cell, partial(listener.stage, cell), analyst)

    def _attempt(self, cell: Cell, report: runs.Listener, analyst: Analyst) -> Outcome:
        output = self._folder.prepare(cell)
        self._pause()
        try:
            job = Job(self.prepared(cell), output, self._folder.campaign.keep)
            ended = perform(job, report, analyst)
        finally:
            self._ended_s = time.monotonic()
        return Outcome(cell, ended.error, ended.warning)

    def _pause(self) -> None:
        """Wait for the rest of the campaign's pause between two runs."""
        if self._ended_s is not None:
            left_s = self._ended_s + self._folder.campaign.pause_s - time.monotonic()
            time.sleep(max(left_s, 0.0))
