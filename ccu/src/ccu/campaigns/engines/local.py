# SPDX-License-Identifier: Apache-2.0
"""Runs on this machine, one at a time, so that they do not disturb each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ccu import congestion
from ccu import run as runs
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener, Outcome
from ccu.campaigns.folder import Folder
from ccu.errors import RunFailed


class Local:
    """See `ccu.campaigns.engines.Engine`."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def congestion_controls(self) -> set[str]:
        return congestion.available_in_time()

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Iterator[Outcome]:
        for cell in cells:
            listener.started(cell)
            try:
                output = self._folder.prepare(cell)
                runs.run(cell.experiment, output, partial(listener.stage, cell))
            except RunFailed as failed:
                yield Outcome(cell, str(failed))
            else:
                yield Outcome(cell, None)
