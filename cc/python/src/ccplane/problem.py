# SPDX-License-Identifier: Apache-2.0
"""A problem of a policy: file, line, rule and fix."""

from __future__ import annotations

import json
import traceback


class PolicyError(Exception):
    """A policy that cannot be used."""

    def __init__(self, rule: str, fix: str, line: int | None = None) -> None:
        super().__init__(rule)
        self.rule, self.fix, self.line = rule, fix, line

    def as_json(self) -> str:
        return json.dumps({"line": self.line, "rule": self.rule, "fix": self.fix})


def of_exception(error: BaseException, file: str) -> PolicyError:
    """Return what an exception says, with the newest line of `file` on its way."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == file]  # fmt: skip
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return PolicyError(said, "correct the policy", lines[-1] if lines else None)
