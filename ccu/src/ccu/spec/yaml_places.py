# SPDX-License-Identifier: Apache-2.0
"""A YAML mapping together with the line of each key, so that an error can name the place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ccu.spec import yaml_text
from ddu.console.input_file import read_text
from ddu.console.problems import refusal

Lines = dict[tuple[str, ...], int]
"""The line of each key by the keys that lead to it; in a list, of each word, or by its number."""

_DEEPEST = 8
_WORDS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


_FORM = "write one `key: value` a line, such as `prb: 106`"


def read_mapping(file: Path, form: str = _FORM) -> tuple[dict[str, Any], dict[str, int]]:
    """The mapping in `file` and the line of each of its keys, from 1. Raises RefusedError.

    `form`: the fix for a file that is not a mapping.
    """
    try:
        text = read_text(file)
        node = yaml_text.compose(text)
        content = yaml_text.load(text)
    except OSError as error:
        raise refusal(str(error.strerror), "give the path of a readable file", file=file) from None
    except UnicodeDecodeError:
        raise refusal("not UTF-8 text", "save it as UTF-8", file=file) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        raise refusal(
            f"not YAML ({error.problem})", "correct or quote the value", file=file, line=line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise refusal(f"not YAML ({error})", "correct or quote the value", file=file) from None
    if not isinstance(node, yaml.MappingNode):
        raise refusal("not a mapping", form, file=file, line=1)
    return content, _lines(file, node)


def read_lines(file: Path) -> Lines:
    """The lines, from 1, of all keys and entries in `file`, which `read_mapping` knows."""
    node = yaml_text.compose(read_text(file))
    return dict(_lines_within(node, ()))


def _lines_within(
    node: yaml.Node | None, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int]]:
    if len(path) == _DEEPEST:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inside = (*path, str(key.value))
            yield inside, key.start_mark.line + 1
            yield from _lines_within(value, inside)
    elif isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            inside = (*path, entry.value if isinstance(entry, yaml.ScalarNode) else str(number))
            yield inside, entry.start_mark.line + 1
            yield from _lines_within(entry, inside)


def _lines(file: Path, node: yaml.MappingNode) -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if key.tag not in _WORDS:
            raise refusal(
                f"{name}: a key must be a word", "correct or quote it", file=file, line=line
            )
        if name in lines:
            raise refusal(
                f"{name}: given again (first in line {lines[name]})",
                "keep one",
                file=file,
                line=line,
            )
        lines[name] = line
    return lines
