# SPDX-License-Identifier: Apache-2.0
"""What carries a campaign's runs out: this machine, one after the other, or many machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ccu.campaigns.cells import Cell


class Outcome(NamedTuple):
    """The end of one attempt; its run directory, if any, is in the campaign's directory by now."""

    cell: Cell
    error: str | None
    """Why there is no result; None says to look at the run directory's own verdict."""


class Listener(Protocol):
    """Told how the campaign goes; shows it."""

    def note(self, sentence: str) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def stage(self, cell: Cell, stage: str, ratio: float) -> None: ...

    def ended(self, outcome: Outcome) -> None: ...


class Engine(Protocol):
    """Attempts cells. It takes as many from the iterator as it can work on, and no more."""

    def congestion_controls(self) -> set[str]:
        """Those that every machine of the engine can run."""
        ...

    def attempts(self, cells: Iterator[Cell], listener: Listener) -> Iterator[Outcome]:
        """Raises RefusedError when a machine cannot go on, such as for want of space."""
        ...
