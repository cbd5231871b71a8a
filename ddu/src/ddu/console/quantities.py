# SPDX-License-Identifier: Apache-2.0
"""Quantities as people write them: a number and a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ddu.console.problems import invalid

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z/]+)")
TIME_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def quantity(text: object, units: Mapping[str, float], example: str) -> float:
    """Return the number in the unit whose factor is 1. Raises ValueError with the fix."""
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None or match[2] not in units:
        raise invalid(
            f"{text!r} is not a quantity with a unit",
            f"write for example {example} (units: {', '.join(units)})",
        )
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value):
        raise invalid(f"{text!r} is too large", f"write for example {example}")
    return value


def seconds(text: object, example: str = "30s") -> float:
    """Return a duration in seconds: `30s`, `2min`. Raises ValueError with the fix."""
    # Rounded to what Linux can time, so that 20ms is 0.02 and not 0.020000000000000004.
    return round(quantity(text, TIME_S, example), 9)
