# SPDX-License-Identifier: Apache-2.0
"""The errors of ccu; each is one message and an exit code."""

from __future__ import annotations

from ddu.console.problems import CommandError


class RunFailed(CommandError):  # noqa: N818
    """A run broke off in `stage`; its directory keeps what there is, and the reason."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(f"{stage}: {reason}\nthe run directory keeps the logs")
        self.stage = stage
        self.reason = reason


class Incomplete(CommandError):  # noqa: N818
    """A campaign ended with runs that have no result."""


class Interrupted(CommandError):  # noqa: N818
    """Ctrl-C, or SIGTERM."""

    exit_code = 130
