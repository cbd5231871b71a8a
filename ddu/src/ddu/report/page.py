# SPDX-License-Identifier: Apache-2.0
"""The self-contained report.html of a run, and its figures as SVG files."""

from __future__ import annotations

import base64
import gzip
import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ddu.report import plotly, svg
from ddu.report.figures import CAPTIONS, figures
from ddu.report.numbers import accounts, flow_rows, run_rows
from ddu.report.palette import VERDICT, colour_of

MOST_FLOWS = 16
"""The most flows in the figures and in the table of flows: more cannot be distinguished."""


def write_report(
    results: Path,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
    radio: str | None = None,
) -> None:
    """Write figures/ and report.html under `results`; `radio` describes the radio in one line."""
    flows = _largest(summary["flows"])
    if len(flows) < len(summary["flows"]):
        is_kept = tables["aligned"]["flow"].isin([flow["id"] for flow in flows])
        tables = tables | {"aligned": tables["aligned"][is_kept]}
    drawings = figures(tables, summary["flows"][0]["direction"])
    images = {name: svg.rendered(figure) for name, figure in drawings.items()}
    (results / "figures").mkdir()
    for name, image in images.items():
        (results / "figures" / f"{name}.svg").write_text(image, encoding="utf-8")
    environment = Environment(
        loader=PackageLoader("ddu.report"), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("page.html.j2").render(
        summary=summary,
        radio=radio,
        verdict_colour=VERDICT[summary["verdict"]],
        colour_of=colour_of,
        run_rows=run_rows(summary),
        figures=[(name, CAPTIONS[name], _inline(image)) for name, image in images.items()],
        flows=flows,
        flow_rows=flow_rows(flows),
        accounts=accounts(summary["cross_checks"]),
        live=_script_json({name: plotly.rendered(figure) for name, figure in drawings.items()}),
        plotly=Markup(_compressed_plotly()),
    )
    (results / "report.html").write_text(page, encoding="utf-8")


def _largest(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the MOST_FLOWS flows that received most bytes, in the order of `flows`."""
    by_size = sorted(flows, key=lambda flow: -(flow["received_payload_bytes"] or 0))
    kept = {flow["id"] for flow in by_size[:MOST_FLOWS]}
    return [flow for flow in flows if flow["id"] in kept]


def _inline(image: str) -> Markup:
    """Return an SVG image as a data URL."""
    return Markup("data:image/svg+xml;base64," + base64.b64encode(image.encode()).decode())


def _script_json(value: object) -> str:
    """Return JSON that cannot end the script element that it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


@lru_cache
def _compressed_plotly() -> str:
    """Return plotly.js, compressed to a third of its size; a browser unpacks it."""
    package = find_spec("plotly")  # Not imported, which would take time.
    assert package is not None
    assert package.origin is not None
    script = Path(package.origin).parent / "package_data" / "plotly.min.js"
    # Level 4 takes half the time of the highest for 4 % more bytes.
    return base64.b64encode(gzip.compress(script.read_bytes(), 4, mtime=0)).decode()
