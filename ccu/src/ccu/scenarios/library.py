# SPDX-License-Identifier: Apache-2.0
"""Where the scenarios are, and how they are called."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from ccu.host.programs import REPOSITORY
from testbed_console.problems import RefusedError, refusal
from testbed_console.suggestions import unknown

LIBRARY = REPOSITORY / "rf-scenarios"

# mmwave-walking-07 is the channel that mmwave-walking draws from seed 7.
_NUMBERED = re.compile(r"(?P<name>.+)-(?P<seed>\d{2,9})")


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
    """The file of scenario `name`, one of the library's or a path. Raises RefusedError."""
    looks_like_path = "/" in name or name.endswith((".yaml", ".yml"))
    file = Path(name) if looks_like_path else LIBRARY / f"{name}.yaml"
    if file.is_file():
        return file.resolve()
    if looks_like_path:
        what = "is a directory" if file.is_dir() else "no such file"
        raise refusal(f"{name}: {what}", "give a file, or a name of `ccu list scenarios`")
    numbered = _NUMBERED.fullmatch(name)
    if numbered and (LIBRARY / f"{numbered['name']}.yaml").is_file():
        return LIBRARY / f"{numbered['name']}.yaml"
    raise RefusedError(unknown("scenario", name, library(), "or give the path of a file"))


def seed_of(name: str) -> int | None:
    """The seed in a name such as mmwave-walking-07; None where a file has that name."""
    if "/" in name or (LIBRARY / f"{name}.yaml").is_file():
        return None
    numbered = _NUMBERED.fullmatch(name)
    return int(numbered["seed"]) if numbered else None
