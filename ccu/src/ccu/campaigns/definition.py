# SPDX-License-Identifier: Apache-2.0
"""The reading of a campaign's YAML file under one of its profiles, and the project's own files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ccu.spec.yaml_places import read_lines, read_mapping
from ddu.campaign.definition import NAME_PATTERN, Campaign, Lines, line_of
from ddu.console.input_file import path_in, why_none
from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import unknown
from ddu.console.validation import invalid_values, word
from ddu.installation import data

LIBRARY = data("ccu", "campaigns")
_LISTED_BY = "`ccu campaign list`"
PROFILE = "quick"
"""The default profile, which ends within minutes."""


def library(profile: str | None = None) -> dict[str, str]:
    """Return the names and titles of the campaigns that come with the project, and have `profile`
    if one is given."""
    titles = {}
    for file in sorted(LIBRARY.glob("*.yaml")):
        content, _ = read_mapping(file)
        if profile is None or profile in (content.get("profiles") or {}):
            titles[file.stem] = str(content.get("title", ""))
    return titles


def locate(name: str) -> Path:
    """Return the file of campaign `name`, a library name or a path. Raises RefusedError."""
    for file in (Path(name), LIBRARY / f"{name}.yaml"):
        if file.is_file():
            return file
    if path := path_in(name):
        fix = f"give a campaign's file, or a name of {_LISTED_BY}"
        raise refusal(f"{name}: {why_none(path)}", fix)
    raise RefusedError(
        unknown("campaign", name, library(), f"{_LISTED_BY} describes each, or give a file")
    )


def read(file: Path, profile: str | None = None) -> Campaign:
    """Read the campaign in `file` under `profile`. Raises RefusedError with a line per mistake."""
    content, lines = read_mapping(file)
    profiles = _profiles(content.pop("profiles", None) or {}, file, lines.get("profiles", 1))
    chosen = profile or (PROFILE if PROFILE in profiles else next(iter(profiles), "only"))
    if profiles and chosen not in profiles:
        raise RefusedError(unknown("profile", chosen, profiles, where=Where(str(file))))
    if profile and not profiles and profile != "only":
        raise refusal("has no profiles", "leave --profile out", file=file)
    merged = _merged(content, profiles.get(chosen) or {})
    merged.setdefault("name", file.stem)
    nested = read_lines(file)
    try:
        campaign = Campaign.model_validate({**merged, "profile": chosen})
    except ValidationError as error:
        known = {*Campaign.model_fields, "profiles"} - {"profile"}
        raise RefusedError(
            one.at(_where(file, nested, chosen, one.where.key or ""))
            for one in invalid_values(error, Campaign, known)
        ) from None
    return campaign.read_from(file, nested)


def _profiles(profiles: Any, file: Path, line: int) -> dict[str, Any]:
    """Return the profiles by their names as text. Raises RefusedError."""
    form = "write a mapping from each profile's name to the keys that it sets"
    if not isinstance(profiles, dict):
        raise refusal(f"is {profiles!r}", form, key="profiles", file=file, line=line)
    for name, keys in profiles.items():
        if keys is not None and not isinstance(keys, dict):
            raise refusal(f"is {keys!r}", form, key=f"profiles.{name}", file=file, line=line)
    named = {word(name): keys for name, keys in profiles.items()}
    if wrong := next((name for name in named if not re.search(NAME_PATTERN, name)), None):
        fix = "write letters, digits, hyphens, dots and underscores"
        raise refusal(f"{wrong!r} is not a name", fix, key="profiles", file=file, line=line)
    return named


def _merged(content: dict[str, Any], profile: dict[str, Any]) -> dict[str, Any]:
    """`base` and `factors` are merged key by key (null takes one away); the rest is replaced."""
    merged = dict(content)
    for key, value in profile.items():
        if key in ("base", "factors") and isinstance(value, dict):
            before = content.get(key) or {}
            if not isinstance(before, dict):
                continue  # It is refused as it stands.
            both = {**before, **value}
            merged[key] = {name: item for name, item in both.items() if item is not None}
        else:
            merged[key] = value
    return merged


def _where(file: Path, lines: Lines, profile: str, key: str) -> Where:
    return Where(str(file), line_of(lines, profile, tuple(key.split("."))), key)
