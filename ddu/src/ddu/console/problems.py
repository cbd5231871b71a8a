# SPDX-License-Identifier: Apache-2.0
"""A problem as a value: where it is, which rule is broken, how to fix it.

Problems travel between functions as values and between programs as JSON; they become text once,
where a command ends (`ddu.console.ending`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Where:
    """The place of a problem; None for what is unknown or does not apply."""

    file: str | None = None
    line: int | None = None
    """Counted from 1."""
    key: str | None = None
    """A key of YAML or JSON with dots between levels, or a command-line flag such as `--prb`."""

    def __str__(self) -> str:
        place = self.file or ""
        if place and self.line is not None:
            place += f":{self.line}"
        return ": ".join(part for part in (place, self.key) if part)

    def inside(self, outer: Where) -> Where:
        """Return the place whose key is relative to that of `outer`."""
        key = ".".join(part for part in (outer.key, self.key) if part)
        return replace(outer, key=key or None)

    def to_json(self) -> dict[str, Any]:
        """Return the form that programs exchange (docs/errors.md)."""
        return {"file": self.file, "line": self.line, "key": self.key}


NOWHERE = Where()


@dataclass(frozen=True)
class Problem:
    """One mistake in the user's input."""

    rule: str
    """The broken rule, as a clause without a full stop."""
    fix: str = ""
    """The remedy, as an imperative sentence without a full stop."""
    where: Where = NOWHERE

    def __str__(self) -> str:
        place = str(self.where)
        sentence = f"{place}: {self.rule}" if place else self.rule
        if not self.fix:
            return sentence
        # Text of other programs may end as a sentence already.
        stop = "" if sentence.endswith((".", "?", "!")) else "."
        return f"{sentence}{stop} {self.fix[0].upper()}{self.fix[1:]}"

    def at(self, where: Where) -> Problem:
        """Return the same problem at another place."""
        return replace(self, where=where)

    def to_json(self) -> dict[str, Any]:
        """Return the form that programs exchange (docs/errors.md)."""
        return {"where": self.where.to_json(), "rule": self.rule, "fix": self.fix}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Problem:
        """Return the problem that another program reported."""
        return cls(content["rule"], content.get("fix") or "", Where(**content["where"]))


class InvalidValue(ValueError):  # noqa: N818
    """A value that breaks a rule, raised by its reader; the caller knows its place.

    The keys of the problems are relative to the value. pydantic passes it on from validators.
    """

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))

    def at(self, where: Where) -> list[Problem]:
        """Return the problems of a value that was written at `where`."""
        return [one.at(one.where.inside(where)) for one in self.problems]


class CommandError(Exception):
    """An error whose text is all that the user needs; `exit_code` is the command's."""

    exit_code = 1


class RefusedError(CommandError):
    """The request is invalid, or impossible here: nothing was started, nothing written."""

    exit_code = 2

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(dict.fromkeys(map(str, self.problems))))


def refusal(
    rule: str,
    fix: str = "",
    *,
    key: str | None = None,
    file: str | os.PathLike[str] | None = None,
    line: int | None = None,
) -> RefusedError:
    """Return the refusal of one problem."""
    where = Where(None if file is None else os.fspath(file), line, key)
    return RefusedError(Problem(rule, fix, where))


def invalid(rule: str, fix: str = "", *, key: str | None = None) -> InvalidValue:
    """Return the one rule that a value, or what `key` holds in it, breaks."""
    return InvalidValue(Problem(rule, fix, Where(key=key)))


def problems_of(check: Callable[[], object]) -> list[Problem]:
    """Return the problems for which `check` refuses; none if it returns."""
    try:
        check()
    except RefusedError as error:
        return list(error.problems)
    return []
