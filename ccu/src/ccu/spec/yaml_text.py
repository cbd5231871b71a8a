# SPDX-License-Identifier: Apache-2.0
"""Users' YAML, parsed in C. Text that would end or hold up the process is refused: nested too deep,
a few lines that stand for millions, numbers of thousands of digits."""

from __future__ import annotations

import re
from typing import Any

import yaml

_DEEPEST = 50
_MOST_NODES = 200_000
"""The keys and values of a file, with what its aliases stand for."""
_NUMBER = re.compile(r"[-+]?[0-9][0-9A-Za-z_:.]*")
_MOST_DIGITS = 100
_BEGINS = yaml.SequenceStartEvent, yaml.MappingStartEvent
_ENDS = yaml.SequenceEndEvent, yaml.MappingEndEvent


def load(text: str | bytes) -> Any:
    """Return the content. Raises yaml.YAMLError, and ValueError for an impossible date."""
    _check_size(text)
    return yaml.load(text, Loader=yaml.CSafeLoader)


def compose(text: str | bytes) -> yaml.Node | None:
    """Return the content as nodes, which know their lines. Raises yaml.YAMLError."""
    _check_size(text)
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    return node


def _check_size(text: str | bytes) -> None:
    """Raise yaml.MarkedYAMLError where a limit is exceeded."""
    anchored: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []  # anchor, nodes that were counted before it
    nodes = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, _ENDS):
            anchor, before = open_nodes.pop()
            if anchor:
                anchored[anchor] = nodes - before
            continue
        if isinstance(event, yaml.AliasEvent):
            if (size := anchored.get(str(event.anchor))) is None:
                raise _refused(event, "an alias of what it stands in, or of nothing")
            nodes += size
        elif isinstance(event, yaml.NodeEvent):
            nodes += 1
            if isinstance(event, yaml.ScalarEvent) and event.anchor:
                anchored[event.anchor] = 1
        if isinstance(event, _BEGINS):
            open_nodes.append((event.anchor, nodes))
            if len(open_nodes) > _DEEPEST:
                raise _refused(event, f"nested more than {_DEEPEST} levels deep")
        if nodes > _MOST_NODES:
            raise _refused(event, f"more than {_MOST_NODES} values, aliases written out")
        if isinstance(event, yaml.ScalarEvent):
            written = event.value
            if len(written) > _MOST_DIGITS and not event.style and _NUMBER.fullmatch(written):
                raise _refused(event, f"a number of more than {_MOST_DIGITS} characters")


def _refused(event: yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    mark: Any = event.start_mark  # Of the parser in C: another class, the same attributes.
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
