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

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_NAME = r"[A-Z][A-Z0-9_]*"
_DECLARED = re.compile(
    rf"^#ifndef (?P<name>{_NAME})\n#define (?P=name)\s+(?P<default>{_NUMBER})\s*"
    rf"/\* parameter, (?P<least>{_NUMBER}|{_NAME}) to (?P<most>{_NUMBER})",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Parameter:
    """A parameter as the text of its source declares it."""

    default: str
    least: str
    """A number, or the name of the parameter whose value is the least of this one's."""
    most: str

    @property
    def least_name(self) -> str | None:
        """The name in `least`, as users write it; None if `least` is a number."""
        return self.least.lower() if re.fullmatch(_NAME, self.least) else None

    def takes(self, text: str, least: str) -> bool:
        """Return whether `text` is a number from `least` to the most; it has to be a whole number
        if the default is one."""
        try:
            value = float(text)
        except ValueError:
            return False
        if not math.isfinite(value) or not float(least) <= value <= float(self.most):
            return False
        # With a 0 before it, a number is octal for C.
        return bool(re.fullmatch(_NUMBER if "." in self.default else r"0|[1-9][0-9]*", text))


def declared(source: Path) -> dict[str, Parameter]:
    """Return the parameters of a source, by the names that users write."""
    declarations = _DECLARED.finditer(source.read_text(errors="replace"))
    return {
        one["name"].lower(): Parameter(one["default"], one["least"], one["most"])
        for one in declarations
    }


def check(cc: str, source: Path, given: Mapping[str, str]) -> None:
    """Raise RefusedError if `source` does not declare a given parameter, a value is out of its
    range, or a range begins at what is no parameter."""
    known = declared(source)
    _check_names(cc, known, given)
    complete = values(source, given)  # A default can be below another parameter that is given.
    for at, (name, one) in enumerate(known.items()):
        if one.least_name and one.least_name not in list(known)[:at]:
            raise refusal(
                f"the least value of {name.upper()} is that of {one.least}, no parameter before it",
                f"write a number, or declare {one.least} before {name.upper()}",
                file=source,
            )
        least = complete[one.least_name] if one.least_name else one.least
        if not one.takes(complete[name], least):
            raise _out_of_range(name, one, complete[name], least)


def _check_names(cc: str, known: Mapping[str, Parameter], given: Mapping[str, str]) -> None:
    if given and not known:
        raise refusal(f"{cc} takes no parameters", "leave it out", key="cc_params")
    for name in given:
        if name not in known:
            where = Where(key="cc_params")
            raise RefusedError(unknown("parameter", name, known, f"for {cc}", where=where))


def _out_of_range(name: str, parameter: Parameter, text: str, least: str) -> RefusedError:
    kind = "number" if "." in parameter.default else "whole number"
    shown, fix = least, f"write {name}={parameter.default}"
    if other := parameter.least_name:
        shown, fix = f"{other}={least}", f"write {name}={least}, or a smaller {other}"
    rule = f"{name}={text}: not a {kind} from {shown} to {parameter.most}"
    return refusal(rule, fix, key="cc_params")


def values(source: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the value of every parameter, given or not."""
    return {name: given.get(name, one.default) for name, one in declared(source).items()}


def defines(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the macros `NAME=value` that the compiler defines for the given parameters."""
    return tuple(f"{name.upper()}={text}" for name, text in given.items())
