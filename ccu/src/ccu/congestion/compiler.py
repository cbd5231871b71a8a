# SPDX-License-Identifier: Apache-2.0
"""Errors that gcc and clang report for a source."""

from __future__ import annotations

import re
from typing import NamedTuple

_ERROR = re.compile(
    r"^(?P<file>\S.*?):(?P<line>\d+):\d+: (?:fatal )?error: (?P<rule>.*)$", re.MULTILINE
)


class CompilerError(NamedTuple):
    """One error, with the file as the compiler was given it."""

    file: str
    line: int
    rule: str


def first_error(log: str) -> CompilerError | None:
    """Return the first error in a compiler's output; None: it has none with a place."""
    error = _ERROR.search(log)
    return CompilerError(error["file"], int(error["line"]), error["rule"]) if error else None
