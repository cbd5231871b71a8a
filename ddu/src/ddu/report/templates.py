# SPDX-License-Identifier: Apache-2.0
"""The pages of runs, comparisons and campaigns: one look, one way to show numbers and figures."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ddu.report import plotly, svg
from ddu.report.figure import Figure
from ddu.statistics import coincide

_SHARED = "ddu.report"
"""The package of the style sheet and the script of every page."""


@lru_cache
def templates_of(package: str) -> Environment:
    """Return the templates of a package, with the filters `number` and `inline`, and `bounds`."""
    loaders = [PackageLoader(name) for name in dict.fromkeys((package, _SHARED))]
    environment = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": number, "inline": _inline}
    environment.globals |= {"bounds": bounds}
    return environment


def prepare(package: str, page: str) -> None:
    """Do what a page of `package` needs before its results are known: half of its time."""
    from scipy import special  # noqa: F401

    templates_of(package).get_template(page)
    _compressed_plotly()


def live_figures(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Return `live` and `plotly` for figures.js.j2: the figures by name, and what draws them."""
    drawn = {name: plotly.rendered(figure) for name, figure in figures.items()}
    # A string in JSON cannot end the script element that it stands in.
    live = json.dumps(drawn, separators=(",", ":")).replace("<", "\\u003c")
    return {"live": Markup(live), "plotly": Markup(_compressed_plotly())}


def inlined(image: str) -> Markup:
    """Return an SVG document as a data URL, dark where the page is."""
    themed = svg.in_theme(image).encode()
    return Markup("data:image/svg+xml;base64," + base64.b64encode(themed).decode())


@lru_cache
def _compressed_plotly() -> str:
    """Return plotly.js, compressed to a third of its size; a browser unpacks it."""
    package = find_spec("plotly")  # Not imported, which would take time.
    assert package is not None
    assert package.origin is not None
    script = Path(package.origin).parent / "package_data" / "plotly.min.js"
    # Level 4 takes half the time of the highest for 4 % more bytes.
    return base64.b64encode(gzip.compress(script.read_bytes(), 4, mtime=0)).decode()


def link_to_run(run: Path, page_folder: Path) -> str:
    """Return the relative link from a page to a run's report, or, without one, to its folder."""
    report = run / "report.html"
    target = report if report.exists() else run
    return quote(os.path.relpath(target.resolve(), page_folder.resolve()))


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


def _inline(file: Path) -> Markup:
    return inlined(file.read_text(encoding="utf-8"))
