# SPDX-License-Identifier: Apache-2.0
"""The findings of `ccu doctor`: one value for each check."""

from __future__ import annotations

from typing import NamedTuple

from ccu.host import programs
from ddu.console.problems import RefusedError


class Finding(NamedTuple):
    """The result of a check of something that runs need, or can use."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True
    """True if a run with a congestion control of the kernel needs it."""

    @property
    def mark(self) -> str:
        if self.ok:
            return "✓"
        return "✗" if self.needed else "○"

    @property
    def sentence(self) -> str:
        """Return the detail; if something is missing, whether it is optional, and the fix."""
        optional = "" if self.ok or self.needed else " (optional)"
        return f"{self.detail}{optional}" + (f"\n→ {self.fix}" if self.fix else "")


def program(name: str, needed: bool = True) -> Finding:
    """Find a program and its version."""
    path = programs.find(name)
    if path is None:
        return Finding(name, False, "not found", programs.install_hint(name), needed)
    return Finding(name, True, f"{programs.version(name) or 'unknown version'} ({path})")


def refused(name: str, error: RefusedError) -> list[Finding]:
    """Return a finding for each problem of a refusal."""
    return [Finding(name, False, one.rule, one.fix) for one in error.problems]
