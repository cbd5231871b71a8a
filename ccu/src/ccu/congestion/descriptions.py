# SPDX-License-Identifier: Apache-2.0
"""A line on each congestion control, and the source that it follows (cc/descriptions.yaml)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import yaml

from ccu.congestion.provider import Control
from ddu.installation import data

FILE = data("ccu", "cc/descriptions.yaml")


@cache
def _declared() -> dict[str, dict[str, str]]:
    declared: dict[str, dict[str, str]] = yaml.load(FILE.read_bytes(), Loader=yaml.CSafeLoader)
    return declared


def described(name: str, control: Control) -> Control:
    """Return the congestion control with a line on it and its source, where they are declared."""
    known = _declared().get(name, {})
    return replace(control, summary=known.get("is"), reference=known.get("follows"))
