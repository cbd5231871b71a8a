# SPDX-License-Identifier: Apache-2.0
"""The templates of campaigns and comparisons, and how they show tables, numbers and figures."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined


def templates_of(package: str) -> Environment:
    """Return the templates of a package, with the filters `number` and `inline`."""
    environment = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": number, "inline": _inline}
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


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()
