# SPDX-License-Identifier: Apache-2.0
"""The templates of campaigns and comparisons, and how they show tables, numbers and figures."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from ddu.statistics import coincide


def templates_of(package: str) -> Environment:
    """Return the templates of a package, with the filters `number` and `inline`, and `bounds`."""
    environment = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": number, "inline": _inline}
    environment.globals |= {"bounds": bounds}
    return environment


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows, with None where there is no value."""
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in table.to_dict("records")
    ]


def number(value: float | None, digits: int = 3) -> str:
    """Return the value with so many significant digits; n/a if it is null or NaN."""
    if value is None or math.isnan(value):
        return "n/a"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{places}f}"


def bounds(low: float | None, high: float | None, scale: float = 1) -> str:
    """Return an interval as text: empty without bounds, and no width where all values agree."""
    if low is None or high is None:
        return ""
    if coincide(low, high):
        return "the same in each"
    return f"{number(low * scale)} … {number(high * scale)}"


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()
