# SPDX-License-Identifier: Apache-2.0
"""The parameters of a BPF source: constants that a run compiles with other values.

A source declares one by two lines:

    #ifndef DELTA
    #define DELTA 0.5 /* parameter, 0.004 to 1: packets … */

The least value may be that of another parameter, declared before: `/* parameter, ALPHA to 1000: …`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import unknown

_NUMBER = r"[0-9.]+"
_NAME = r"[A-Z][A-Z0-9_]*"
_DECLARED = re.compile(
    rf"^#ifndef (?P<name>{_NAME})\n#define (?P=name)\s+(?P<default>{_NUMBER})\s*"
    rf"/\* parameter, (?P<least>{_NUMBER}|{_NAME}) to (?P<most>{_NUMBER})",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Parameter:
    """One that a source declares."""

    default: str
    least: str
    most: str

    @property
    def above(self) -> str | None:
        """Name of the parameter whose value is the least; None: `least` is a number."""
        return self.least.lower() if re.fullmatch(_NAME, self.least) else None

    def takes(self, text: str, least: str) -> bool:
        """Return whether `text` is a number in the range; a whole one if the default is one."""
        try:
            value = float(text)
        except ValueError:
            return False
        if not math.isfinite(value) or not float(least) <= value <= float(self.most):
            return False
        return bool(re.fullmatch(_NUMBER if "." in self.default else r"\d+", text))


def declared(source: Path) -> dict[str, Parameter]:
    """Return the parameters of a source, by the names that users write."""
    declarations = _DECLARED.finditer(source.read_text(errors="replace"))
    return {
        one["name"].lower(): Parameter(one["default"], one["least"], one["most"])
        for one in declarations
    }


def check(cc: str, source: Path, given: Mapping[str, str]) -> None:
    """Raise RefusedError if one that is given is not declared, or a value is out of its range."""
    there = declared(source)
    for name in given:
        if not there:
            raise refusal(f"{cc} takes no parameters", "leave it out", key="cc_params")
        if name not in there:
            where = Where(key="cc_params")
            raise RefusedError(unknown("parameter", name, there, f"for {cc}", where=where))
    complete = values(source, given)  # A default can be below another parameter that is given.
    for name, one in there.items():
        text = complete[name]
        least = complete[one.above] if one.above else one.least
        if one.takes(text, least):
            continue
        kind = "number" if "." in one.default else "whole number"
        shown, fix = least, f"write {name}={one.default}"
        if one.above:
            shown, fix = f"{one.above}={least}", f"write {name}={least}, or a smaller {one.above}"
        rule = f"{name}={text}: not a {kind} from {shown} to {one.most}"
        raise refusal(rule, fix, key="cc_params")


def values(source: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of every parameter, given or not."""
    return {name: given.get(name, one.default) for name, one in declared(source).items()}


def defines(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the compiler has to define."""
    return tuple(f"{name.upper()}={text}" for name, text in given.items())
