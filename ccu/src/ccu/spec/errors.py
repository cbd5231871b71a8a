# SPDX-License-Identifier: Apache-2.0
"""The errors of ccu; each is one message and an exit code."""

from __future__ import annotations

from pathlib import Path

from ddu.console.problems import CommandError


class RunFailed(CommandError):  # noqa: N818
    """A run broke off in `stage`; its directory keeps what there is, and the reason."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(stage, reason)
        self.stage = stage
        self.reason = reason
        self.directory: Path | None = None
        """The directory that keeps the logs; whoever made it fills it in."""

    def __str__(self) -> str:
        said = f"{self.stage}: {self.reason}"
        return f"{said}\nits logs are kept in {self.directory}" if self.directory else said


class Incomplete(CommandError):  # noqa: N818
    """A campaign ended with runs that have no result."""


class Interrupted(CommandError):  # noqa: N818
    """Ctrl-C, or SIGTERM."""

    exit_code = 130
