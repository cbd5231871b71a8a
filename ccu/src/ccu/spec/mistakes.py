# SPDX-License-Identifier: Apache-2.0
"""What pydantic finds wrong with an experiment, in the words and places of who wrote it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from ccu.spec.experiment import Experiment
from testbed_console.suggestions import keys_at, no_such, no_such_key, slip

_MOST_SHOWN = 60
"""Characters of a wrong value."""


def explained(
    error: ValidationError,
    places: Mapping[str, str],
    known: Collection[str],
    model: type[BaseModel] = Experiment,
) -> list[str]:
    """A line for each mistake in a value of `model`: where it stands, the rule.

    `known`: the keys that people may write.
    """
    found = [_explain(item, places, known, model) for item in error.errors()]
    return [line for line in found if line]


def _explain(
    item: Any,
    places: Mapping[str, str],
    known: Collection[str],
    model: type[BaseModel],
) -> str | None:
    location = [str(part) for part in item["loc"]]
    if _is_told_otherwise(item, location):
        return None
    if not location:
        return _of_several(_rule(item, model), places)
    name, inner = location[0], _inside(location)
    if item["type"] == "extra_forbidden" and len(location) == 1:
        place = places[name].removesuffix(f": {name}")
        return f"{place}: {no_such('key', name, known, '`ccu run … --dry-run` prints them')}"
    if name == "flows" and places.get("flows") == places.get("cc"):
        inner = ""  # Written as one word.
    if item["type"] == "extra_forbidden":
        inner = _inside(location[:-1])
    return f"{places.get(name, name)}: {inner + ': ' if inner else ''}{_rule(item, model)}"


def _is_told_otherwise(item: Any, location: list[str]) -> bool:
    # Flows that are missing, or were wrong one by one, are told where they are chosen or stand.
    if location == ["flows"] and (item["type"] == "missing" or item["input"]):
        return item["type"] in ("missing", "too_short")
    # Of a union, whose other form the mapping is: that one's error is told.
    return item["type"] == "literal_error" and isinstance(item["input"], dict)


def _rule(item: Any, model: type[BaseModel]) -> str:
    """The rule that is broken, and by what."""
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "value_error":
        return message
    if item["type"] == "extra_forbidden":
        return no_such_key(model, item)
    shown = repr(item["input"])
    if len(shown) > _MOST_SHOWN:
        shown = f"{shown[:_MOST_SHOWN]}…"
    if item["type"] == "model_type":
        message = f"is a mapping of {', '.join(keys_at(model, item['loc']))}"
    return f"{message} (it is {shown}){slip(item)}"


def _inside(location: list[str]) -> str:
    """Where within a key; without the names that pydantic gives to the forms of a union."""
    of_ours = (part for part in location[1:] if part == part.lower() and "[" not in part)
    return ".".join(of_ours)


def _of_several(message: str, places: Mapping[str, str]) -> str:
    """What is wrong between several keys names them itself; the place of the first is told, too."""
    head, colon, rest = message.partition(": ")
    if colon and all(name in places for name in head.split(", ")):
        return f"{', '.join(places[name] for name in head.split(', '))}: {rest}"
    if message.startswith("flow "):
        return f"{places.get('flows', 'flows')}: {message}"
    for option in re.findall(r"--([a-z][a-z0-9-]*)", message):
        place = places.get(option.replace("-", "_"), "")
        if place and not place.startswith("--"):
            return f"{place}: {message.removeprefix(f'--{option}: ')}"
    return message
