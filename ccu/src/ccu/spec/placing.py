# SPDX-License-Identifier: Apache-2.0
"""Refusals name an option of `ccu run`; who wrote its value into a file is told the place there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ccu.spec.errors import Refused
from ccu.spec.resolve import flag_keys, keys

_OPTION = re.compile(r"--(?P<name>[a-z0-9][a-z0-9-]*)(?::| (?=[^\s:]+:)) ?")
"""`--scenario: …`, or `--testbed NAME: …`, at the beginning of a line."""


@contextmanager
def told_at(places: Mapping[str, str], elsewhere: str | None = None) -> Iterator[None]:
    """Refusals within are told at `places`, by the keys that people write; what has none of the
    keys of an experiment is told at `elsewhere`, or by its option."""
    try:
        yield
    except Refused as error:
        lines = [_placed(line, places, elsewhere) for line in str(error).splitlines()]
        raise Refused("\n".join(lines)) from None


def _placed(line: str, places: Mapping[str, str], elsewhere: str | None) -> str:
    option = _OPTION.match(line)
    if option is None:
        return line
    name = option["name"]
    key = flag_keys().get(f"--{name}", name.replace("-", "_"))
    default = f"{elsewhere}: {key}" if elsewhere and key in keys() else None
    place = places.get(key, default)
    if place is None or place.startswith("--"):
        return line
    rest = line[option.end() :]
    return f"{place}: {rest}" if place else rest
