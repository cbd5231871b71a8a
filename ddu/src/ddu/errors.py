# SPDX-License-Identifier: Apache-2.0
"""The errors of ddu: what is wrong, where, and how to fix it."""

from __future__ import annotations

from pathlib import Path

from testbed_console.problems import CommandError


class DduError(CommandError):
    """The request cannot be carried out; the text says what the user needs to fix it."""

    exit_code = 2


class NotARun(DduError):  # noqa: N818 - a name that says what is wrong
    """The directory is missing, empty, or has no manifest."""


class FutureSchema(DduError):  # noqa: N818
    """The run was written by a newer version of the testbed."""


class FailedRun(DduError):  # noqa: N818
    """The run failed before it produced anything to analyse."""


class UnreadableInput(DduError):  # noqa: N818
    """An input file is missing, cut off, malformed or not readable."""

    def __init__(self, file: Path, problem: str, fix: str = "") -> None:
        self.file = file
        super().__init__(f"{file}: {problem}" + (f"; {fix}" if fix else ""))


class StoreError(DduError):
    """The store does not answer, refuses the request, or holds something else."""

    exit_code = 1


class StoreRefused(StoreError):  # noqa: N818
    """The request to the store is wrong, or there is no store: nothing was changed."""

    exit_code = 2


class StoreAway(StoreError):  # noqa: N818
    """The store does not answer, or the connection broke: later it may work."""
