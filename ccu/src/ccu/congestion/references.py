# SPDX-License-Identifier: Apache-2.0
"""The papers and RFCs that congestion controls follow (cc/references.yaml)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import yaml

from ccu.congestion.provider import Control
from ddu.installation import data

FILE = data("ccu", "cc/references.yaml")


@cache
def _declared() -> dict[str, str]:
    declared: dict[str, str] = yaml.load(FILE.read_bytes(), Loader=yaml.CSafeLoader)
    return declared


def referenced(name: str, control: Control) -> Control:
    """Return the congestion control with the paper or RFC that it follows."""
    return replace(control, reference=_declared().get(name))
