# SPDX-License-Identifier: Apache-2.0
"""The refusals of ddu that callers distinguish; all others are plain RefusedErrors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ddu.console.machine_errors import FIXES
from ddu.console.problems import CommandError, Problem, RefusedError, Where, refusal

if TYPE_CHECKING:
    from pydantic import ValidationError


class UnreadableInput(RefusedError):  # noqa: N818 - a name that says what is wrong
    """An input is missing, cut off, malformed or not readable."""

    def __init__(
        self,
        file: Path,
        rule: str,
        fix: str = "",
        *,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(Problem(rule, fix, Where(str(file), line, key)))


def malformed(file: Path, error: ValidationError, fix: str) -> UnreadableInput:
    """Return the error of a record of ours whose form is wrong; it names the first wrong key."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    rule = str(first["msg"]).removeprefix("Value error, ")
    return UnreadableInput(file, rule, fix, key=key or None)


class WriteFailed(RefusedError):  # noqa: N818
    """The disk is full or broken: what was begun could not be written."""

    exit_code = 1


def unwritable(path: Path, rule: str, error: OSError) -> RefusedError:
    """Return the error of a result that cannot be written to `path`."""
    reason = error.strerror or str(error)
    if fix := FIXES.get(error.errno):
        return WriteFailed(Problem(f"{rule} ({reason})", fix, Where(str(path))))
    fix = "run it as the owner or with sudo" if isinstance(error, PermissionError) else ""
    return UnreadableInput(path, f"{rule} ({reason})", fix)


def unwritable_output(path: Path, rule: str, error: OSError) -> RefusedError:
    """Return the same for a path that --output has named: a wrong one if the machine is well."""
    if error.errno in FIXES:
        return unwritable(path, rule, error)
    return refusal(f"{path}: {error.strerror}", key="--output")


class NotARun(UnreadableInput):
    """The directory is missing, empty, or has no manifest."""


class FutureSchema(UnreadableInput):
    """The run was written by a newer version of the testbed."""


class FailedRun(UnreadableInput):
    """The run failed before it produced anything to analyse."""


class UnusablePackage(CommandError):  # noqa: N818
    """Another package declares a metric or log format that cannot be used: no input is at fault."""

    exit_code = 2

    def __init__(self, rule: str, fix: str) -> None:
        super().__init__(str(Problem(rule, fix)))


class StoreError(RefusedError):
    """The store does not answer, refuses the request, or holds something else."""

    exit_code = 1

    def __init__(
        self, rule: str, fix: str = "", *, file: Path | None = None, key: str | None = None
    ) -> None:
        super().__init__(Problem(rule, fix, Where(str(file) if file else None, key=key)))


class StoreRefused(StoreError):  # noqa: N818
    """The request to the store is wrong, or there is no store: nothing was changed."""

    exit_code = 2


class StoreAway(StoreError):  # noqa: N818
    """The store does not answer, or the connection broke: later it may work."""
