# SPDX-License-Identifier: Apache-2.0
"""Users' YAML, parsed in C. Text nested so deeply that parsers end the process is refused."""

from __future__ import annotations

from typing import Any

import yaml

_DEEPEST = 50
_BEGINS = yaml.SequenceStartEvent, yaml.MappingStartEvent
_ENDS = yaml.SequenceEndEvent, yaml.MappingEndEvent


def load(text: str | bytes) -> Any:
    """Return the content. Raises yaml.YAMLError, and ValueError for an impossible date."""
    _check_depth(text)
    return yaml.load(text, Loader=yaml.CSafeLoader)


def compose(text: str | bytes) -> yaml.Node | None:
    """Return the content as nodes, which know their lines. Raises yaml.YAMLError."""
    _check_depth(text)
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    return node


def _check_depth(text: str | bytes) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, _BEGINS) - isinstance(event, _ENDS)
        if depth > _DEEPEST:
            mark: Any = event.start_mark  # Of the parser in C: another class, the same attributes.
            problem = f"nested more than {_DEEPEST} levels deep"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
