# SPDX-License-Identifier: Apache-2.0
"""The suggestions for an unknown name: similar names, and the known ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:  # half of what a command needs to start, and only models need it
    from pydantic import BaseModel

from ddu.console.problems import NOWHERE, Problem, Where

# Beyond this number, names are not listed if one of them is similar.
_MOST_LISTED = 20
# Beyond this number, they are not listed if `see` shows where they are.
_MOST_LISTED_OF_ALL = 60
_ALIKE = 0.65
_NEXT = 0.2
"""The largest difference from the most similar name for a further suggestion."""


def unknown(
    what: str, name: object, there: Iterable[str], see: str = "", where: Where = NOWHERE
) -> Problem:
    """Return the problem that there is no `what` called `name`, and what there is instead."""
    return Problem(f"no {what} {name!r}", instead_of(name, there, see), where)


def instead_of(name: object, there: Iterable[str], see: str = "") -> str:
    """`did you mean rome-moderate? There are …`; `see` names where more about them stands."""
    names = sorted(there)
    close = near(str(name), names)
    asked = f"did you mean {_either(close)}?" if close else ""
    more = f" ({see})" if see else ""
    if close and len(names) > _MOST_LISTED:
        return f"{asked}{more}"
    if see and len(names) > _MOST_LISTED_OF_ALL:
        return see
    listed = f"here are {', '.join(names) or 'none'}{more}"
    return f"{asked} T{listed}" if close else f"t{listed}"


def near(name: str, there: Iterable[str]) -> list[str]:
    """Return the names similar to `name`, the most likely first: shortened, or misspelt."""
    wanted = _plain(name)
    alike = {each: _likeness(wanted, _plain(each)) for each in sorted(there)}
    least = max(_ALIKE, max(alike.values(), default=0) - _NEXT)
    similar = sorted(
        (each for each in alike if alike[each] >= least), key=lambda each: -alike[each]
    )
    return similar[:3]


def _likeness(wanted: str, name: str) -> float:
    """Return the similarity from 0 to 1; a name that begins with `name` counts as a small slip."""
    ratio = difflib.SequenceMatcher(None, wanted, name).ratio()
    return max(ratio, 0.8) if len(wanted) > 2 and name.startswith(wanted) else ratio


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def slip(item: Any) -> str:
    """Return `did you mean …?` for pydantic's error `literal_error`, if a name is similar."""
    if item["type"] != "literal_error":
        return ""
    close = near(str(item["input"]), re.findall(r"'([^']*)'", str(item["ctx"]["expected"])))
    return f"did you mean {_either(close)}?" if close else ""


def keys_at(model: type[BaseModel], location: Sequence[object]) -> list[str]:
    """Return the keys of `model` at pydantic's `location` of one of its values."""
    models = [model]
    for part in location:
        inner = [each for one in models if part in one.model_fields
                 for each in _models(one.model_fields[str(part)].annotation)]  # fmt: skip
        models = inner or [each for each in models if _is_called(each, part)] or models
    return list(dict.fromkeys(key for each in models for key in each.model_fields))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _is_called(model: type[BaseModel], part: object) -> bool:
    """Return whether `part` of pydantic's location is this model of a union, by name or by tag."""
    tags = [get_args(each.annotation) for each in model.model_fields.values()
            if get_origin(each.annotation) is Literal]  # fmt: skip
    return model.__name__ == part or any(part in values for values in tags)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(" ", "-")
