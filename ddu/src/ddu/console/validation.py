# SPDX-License-Identifier: Apache-2.0
"""The conversion of pydantic's errors on a user's value to problems by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ddu.console.problems import InvalidValue, Problem, RefusedError, Where
from ddu.console.suggestions import instead_of, keys_at, slip

_MOST_SHOWN = 60
"""Characters of a wrong value."""
_LIST = "write each entry with a dash before it"
_FIXES = {
    "missing": "add it",
    "dict_type": "write a mapping, one `key: value` a line",
    "list_type": _LIST,
    "tuple_type": _LIST,
}
_WHOLE, _NUMBER = "is not a whole number", "is not a number"
_RULES = {
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "finite_number": "is not a finite number",
    "string_type": "is not text",
    "greater_than": "is not more than {gt:g}",
    "greater_than_equal": "is less than {ge:g}",
    "less_than": "is not less than {lt:g}",
    "less_than_equal": "is more than {le:g}",
    "literal_error": "is not {expected}",
}
"""Rules after the value, in words that do not name pydantic's input, by its type of error."""


def word(value: object) -> str:
    """Return a name or setting as text. YAML reads on and off as booleans; people mean the
    words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def words(written: object) -> tuple[str, ...]:
    """Return one name, or each of a list, as text."""
    return tuple(map(word, written if isinstance(written, list) else [written]))


def invalid_values(
    error: ValidationError, model: type[BaseModel], keys: Iterable[str] = (), see: str = ""
) -> list[Problem]:
    """Return the problems of a value of `model`; the key of each is its path, joined by dots.

    `keys`: those that may stand at the top; none: the model's fields. `see`: where they are listed.
    """
    items = error.errors()
    problems: list[Problem] = []
    # What others show has to be shown itself where there are no others.
    for item in [one for one in items if not _is_shown_elsewhere(one)] or items:
        problems += _problems(item, model, list(keys), see)
    return list(dict.fromkeys(problems))


def refused_file(
    error: ValidationError, model: type[BaseModel], file: Path, within: str = ""
) -> RefusedError:
    """Return the refusal of a file in which `within` (a key; else the whole) is a wrong `model`."""
    outer = Where(str(file), key=within)
    return RefusedError(one.at(one.where.inside(outer)) for one in invalid_values(error, model))


def _is_shown_elsewhere(item: Any) -> bool:
    if item["type"] == "literal_error" and isinstance(item["input"], dict):
        return True  # The other form of a union is meant, whose errors are reported.
    # The items are wrong, each of which is reported.
    return bool(item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"])


def _problems(item: Any, model: type[BaseModel], keys: list[str], see: str) -> Iterator[Problem]:
    path = [str(part) for part in item["loc"]]
    raised = item.get("ctx", {}).get("error")
    if isinstance(raised, InvalidValue):
        yield from raised.at(Where(key=_key(path)))
    elif item["type"] == "extra_forbidden":
        *above, name = path
        there = keys if keys and not above else keys_at(model, above)
        fix = instead_of(name, there, "" if above else see)
        yield Problem("unknown key", fix, Where(key=".".join(filter(None, [_key(above), name]))))
    else:
        fix = _FIXES.get(item["type"]) or slip(item)
        yield Problem(_rule(item, model), fix, Where(key=_key(path)))


def _rule(item: Any, model: type[BaseModel]) -> str:
    if item["type"] == "missing":
        return "is missing"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    shown = repr(item["input"])
    if len(shown) > _MOST_SHOWN:
        shown = f"{shown[:_MOST_SHOWN]}…"
    if item["type"] == "model_type":
        return f"is not a mapping of {', '.join(keys_at(model, item['loc']))} (it is {shown})"
    if item["type"] == "dict_type":
        return f"is not a mapping (it is {shown})"
    if item["type"] in ("list_type", "tuple_type"):
        return f"is not a list (it is {shown})"
    if rule := _RULES.get(item["type"]):
        return f"{shown} {rule.format(**item.get('ctx', {}))}"
    return f"{item['msg']} (it is {shown})"


def _key(path: list[str]) -> str | None:
    """Return the path without the names that pydantic gives to the forms of a union."""
    written = [part for part in path if part == part.lower() and "[" not in part]
    return ".".join(written) or None
