# SPDX-License-Identifier: Apache-2.0
"""Presets by name, of radios and of DRX with RRC states: nr-link's keys of `radio`, one file each
(docs/scenarios.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ccu.scenarios.library import LIBRARY
from ccu.spec.radio import DRX, RADIO
from ccu.spec.yaml_places import read_lines, read_mapping
from ddu.console.input_file import path_in, why_none
from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import instead_of, unknown


class _Kind(NamedTuple):
    """A kind of presets."""

    folder: Path
    listed: str
    """The word by which `ccu list` shows them."""
    fix: str
    """The advice of errors on how to write one."""
    keys: tuple[str, ...] = ()
    """The keys of `radio` that they may have; empty: all."""


_KINDS = {
    RADIO: _Kind(LIBRARY / "radios", "radios", "write the radio as in docs/scenarios.md"),
    DRX: _Kind(LIBRARY / "drx", "drx", "write the setting as in docs/scenarios.md", ("drx", "rrc")),
}
_KEYS = ("summary", "sources", "radio")


def library(kind: str = RADIO) -> dict[str, str]:
    """Return the names and summaries of the presets that come with the project."""
    files = sorted(_KINDS[kind].folder.glob("*.yaml"))
    return {file.stem: str(read_mapping(file)[0].get("summary", "")) for file in files}


def locate(kind: str, name: str) -> Path:
    """Return the file of preset `name`, a library name or a path. Raises RefusedError."""
    file = path_in(name) or _KINDS[kind].folder / f"{name}.yaml"
    if file.is_file():
        return file
    if path_in(name):
        listed = _KINDS[kind].listed
        raise refusal(f"{name}: {why_none(file)}", f"give a file, or a name of `ccu list {listed}`")
    raise RefusedError(unknown(kind, name, library(kind), "or give the path of a file"))


def read(kind: str, name: str) -> tuple[dict[str, Any], dict[str, Where]]:
    """Return nr-link's keys in preset `name`, and the place of each, also of those inside.

    The place of a key inside has the key's path, such as `radio.drx.inactivity_ms`. Raises
    RefusedError.
    """
    file, rules = locate(kind, name), _KINDS[kind]
    content, lines = read_mapping(file, rules.fix)
    for key in content:
        if key not in _KEYS:
            fix = instead_of(key, _KEYS)
            raise refusal("unknown key", fix, file=file, line=lines[key], key=key)
    radio = content.get("radio")
    if not isinstance(radio, dict) or not radio:
        line = lines.get("radio")
        raise refusal("is not a mapping of keys", rules.fix, file=file, line=line, key="radio")
    inside = {path[1:]: line for path, line in read_lines(file).items() if path[0] == "radio"}
    for key in radio:
        if rules.keys and key not in rules.keys:
            fix, line = instead_of(str(key), rules.keys), inside[(str(key),)]
            raise refusal("unknown key", fix, file=file, line=line, key=f"radio.{key}")
    places = {
        (path[0] if len(path) == 1 else ".".join(("radio", *path))): Where(
            str(file), line, ".".join(("radio", *path))
        )
        for path, line in inside.items()
        if path
    }
    return {str(key): value for key, value in radio.items()}, places
