# SPDX-License-Identifier: Apache-2.0
"""The project's radio scenarios, and the user's. What they mean is nr-link's business."""

from __future__ import annotations

from pathlib import Path

import yaml

from ccu.errors import Refused
from ccu.programs import REPOSITORY

LIBRARY = REPOSITORY / "rf-scenarios"


def library() -> dict[str, str]:
    """Names and summaries of the scenarios that come with the project."""
    found = {}
    for file in sorted(LIBRARY.glob("*.yaml")):
        try:
            summary = yaml.safe_load(file.read_text()).get("summary", "")
        except (yaml.YAMLError, AttributeError):
            summary = "(not readable)"
        found[file.stem] = str(summary)
    return found


def locate(name: str) -> Path:
    """The file of scenario `name`, one of the library's or a path. Raises Refused."""
    looks_like_path = "/" in name or name.endswith((".yaml", ".yml"))
    file = Path(name) if looks_like_path else LIBRARY / f"{name}.yaml"
    if file.is_file():
        return file.resolve()
    if looks_like_path:
        raise Refused(f"--scenario: {name}: no such file")
    names = ", ".join(library())
    raise Refused(f"--scenario: no scenario {name!r}; there are {names}, or give a file's path")
