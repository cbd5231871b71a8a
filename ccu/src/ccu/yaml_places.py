# SPDX-License-Identifier: Apache-2.0
"""A YAML mapping together with the line of each key, so that an error can name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ccu.errors import Refused

_WORDS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


def read_mapping(file: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The mapping in `file` and the line of each of its keys, from 1. Raises Refused."""
    try:
        node = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}; give the path of a readable file") from None
    except UnicodeDecodeError:
        raise Refused(f"{file}: not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        raise Refused(
            f"{file}:{line}: not YAML ({error.problem}); mend the line or quote its value"
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise Refused(f"{file}: not YAML ({error}); mend or quote the value") from None
    if not isinstance(node, yaml.MappingNode):
        raise Refused(f"{file}:1: not a mapping; write one `key: value` a line, such as `prb: 106`")
    return content, _lines(file, node)


def _lines(file: Path, node: yaml.MappingNode) -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        if key.tag not in _WORDS:
            raise Refused(f"{file}:{line}: {name}: is no word, as every key is; mend or quote it")
        if name in lines:
            raise Refused(
                f"{file}:{line}: {name}: given again (first in line {lines[name]}); keep one"
            )
        lines[name] = line
    return lines
