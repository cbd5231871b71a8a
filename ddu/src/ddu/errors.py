# SPDX-License-Identifier: Apache-2.0
"""What a user is told when something cannot be analysed: what, where, and how to mend it."""

from __future__ import annotations

from pathlib import Path

from testbed_console.problems import CommandError


class DduError(CommandError):
    """What the user asked for cannot be had; the text says all that is needed to mend it."""

    exit_code = 2


class NotARun(DduError):  # noqa: N818 - a name that says what is wrong
    """The directory is missing, empty, or has no manifest."""


class FutureSchema(DduError):  # noqa: N818
    """The run was written by a newer version of the testbed."""


class FailedRun(DduError):  # noqa: N818
    """The run failed before it produced anything to analyse."""


class UnreadableInput(DduError):  # noqa: N818
    """An input file is missing, cut off, malformed or not ours to read."""

    def __init__(self, file: Path, problem: str, mend: str = "") -> None:
        self.file = file
        super().__init__(f"{file}: {problem}" + (f"; {mend}" if mend else ""))


class StoreError(DduError):
    """The store is away, refuses us, or holds something else."""

    exit_code = 1


class StoreRefused(StoreError):  # noqa: N818
    """What was asked of the store is wrong, or there is none to ask: nothing was changed."""

    exit_code = 2


class StoreAway(StoreError):  # noqa: N818
    """Nobody answers at the store's address, or the connection broke: later it may work."""
