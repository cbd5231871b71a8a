# SPDX-License-Identifier: Apache-2.0
"""Radios by name: presets of nr-link's keys of `radio`, one file each (docs/scenarios.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ccu.scenarios.library import LIBRARY
from ccu.spec.yaml_places import read_lines, read_mapping
from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import instead_of, unknown

FOLDER = LIBRARY / "radios"
_KEYS = ("summary", "sources", "radio")
_FORM = "write the radio as in docs/scenarios.md"


def library() -> dict[str, str]:
    """Return the names and summaries of the radios that come with the project."""
    files = sorted(FOLDER.glob("*.yaml"))
    return {file.stem: str(read_mapping(file)[0].get("summary", "")) for file in files}


def locate(name: str) -> Path:
    """Return the file of radio `name`, a library name or a path. Raises RefusedError."""
    is_path = "/" in name or name.endswith((".yaml", ".yml"))
    file = Path(name) if is_path else FOLDER / f"{name}.yaml"
    if file.is_file():
        return file
    if is_path:
        what = "is a directory" if file.is_dir() else "no such file"
        raise refusal(f"{name}: {what}", "give a file, or a name of `ccu list radios`")
    raise RefusedError(unknown("radio", name, library(), "or give the path of a file"))


def read(name: str) -> tuple[dict[str, Any], dict[str, Where]]:
    """Return nr-link's keys in radio `name`, and the place of each. Raises RefusedError."""
    file = locate(name)
    content, lines = read_mapping(file, _FORM)
    for key in content:
        if key not in _KEYS:
            fix = instead_of(key, _KEYS)
            raise refusal("unknown key", fix, file=file, line=lines[key], key=key)
    radio = content.get("radio")
    if not isinstance(radio, dict) or not radio:
        line = lines.get("radio")
        raise refusal("is not a mapping of keys", _FORM, file=file, line=line, key="radio")
    inside = read_lines(file)
    places = {
        str(key): Where(str(file), inside["radio", str(key)], f"radio.{key}") for key in radio
    }
    return {str(key): value for key, value in radio.items()}, places
