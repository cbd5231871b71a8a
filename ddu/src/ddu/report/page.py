# SPDX-License-Identifier: Apache-2.0
"""report.html: one page that needs nothing but itself."""

from __future__ import annotations

import base64
import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import plotly
from jinja2 import Environment, PackageLoader, StrictUndefined

from ddu.report.definitions import accounts, flow_rows, headlines
from ddu.report.figures import write_figures
from ddu.report.live import live_figures
from ddu.report.palette import VERDICT, colour_of
from ddu.report.traces import timeline

MOST_FLOWS = 16
"""That figures and the table of flows show."""
CAPTIONS = {
    "timeline": "Every layer on one time axis",
    "radio-cdf": "Distribution of RSRP and SINR over the run",
    "rtt-throughput": "RTT against throughput: one dot a bin; mean and its 95 % interval",
    "mac-transport": "MAC against transport: one dot a bin",
}


def write_report(results: Path, tables: dict[str, pd.DataFrame], summary: dict[str, Any]) -> None:
    """Writes figures/ and report.html under `results`."""
    way = summary["flows"][0]["direction"]
    flows = _largest(summary["flows"])
    if len(flows) < len(summary["flows"]):
        drawn = tables["aligned"]["flow"].isin([flow["id"] for flow in flows])
        tables = tables | {"aligned": tables["aligned"][drawn]}
    figures = write_figures(results / "figures", tables, way)
    environment = Environment(
        loader=PackageLoader("ddu.report"), autoescape=True, undefined=StrictUndefined
    )
    live = {"timeline": timeline(tables["aligned"], way)} | live_figures(tables, way)
    page = environment.get_template("page.html.j2").render(
        summary=summary,
        verdict_colour=VERDICT[summary["verdict"]],
        colour_of=colour_of,
        headlines=headlines(summary),
        figures=[(file.stem, CAPTIONS[file.stem], _inline(file)) for file in figures],
        flows=flows,
        flow_rows=flow_rows(flows),
        accounts=accounts(summary["cross_checks"]),
        live=_script_json(live),
        plotly=_compressed_plotly(),
    )
    (results / "report.html").write_text(page, encoding="utf-8")


def _largest(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those with most bytes, in their order: more lines than colours are no figure."""
    by_size = sorted(flows, key=lambda flow: -(flow["received_payload_bytes"] or 0))
    kept = {flow["id"] for flow in by_size[:MOST_FLOWS]}
    return [flow for flow in flows if flow["id"] in kept]


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


def _script_json(value: object) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


@lru_cache
def _compressed_plotly() -> str:
    """plotly.js, which a browser unpacks: a third of its size."""
    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return base64.b64encode(gzip.compress(script.read_bytes(), mtime=0)).decode()
