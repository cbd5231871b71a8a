# SPDX-License-Identifier: Apache-2.0
"""The engines that execute a campaign's runs: on this machine, or on many machines."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple, Protocol

from ccu.campaigns.cells import Cell


class Outcome(NamedTuple):
    """The end of one attempt; its run directory, if any, is in the campaign's directory."""

    cell: Cell
    error: str | None
    """The reason why there is no result; None means that the run directory has a verdict."""
    warning: str | None = None
    """A warning about a run that has a result."""


class Listener(Protocol):
    """The receiver of a campaign's progress, which shows it."""

    def note(self, sentence: str) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def stage(self, cell: Cell, stage: str, ratio: float) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...


class Engine(Protocol):
    """The executor of cells. It takes as many from the iterator as it can run, and no more."""

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Generator[Outcome, None, None]:
        """Run the cells; when closed, end what is running.

        Raises RefusedError when a machine cannot continue, such as a full disk.
        """
        ...
