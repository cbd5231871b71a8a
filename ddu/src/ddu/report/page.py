# SPDX-License-Identifier: Apache-2.0
"""The self-contained report.html of a run, and its figures as SVG files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from ddu.report import svg, templates
from ddu.report.figure import Mark
from ddu.report.figures import CAPTIONS, figures
from ddu.report.largest import largest
from ddu.report.mobility import handover_rows
from ddu.report.numbers import accounts, flow_rows, headlines, run_rows
from ddu.report.palette import colours_of_flows
from ddu.report.templates import inlined, live_figures, templates_of
from ddu.run.software import of_the_run

_TEMPLATES, _PAGE = "ddu.report", "page.html.j2"


def prepare() -> None:
    """Load what a report needs before its run is known."""
    templates.prepare(_TEMPLATES, _PAGE)


def write_report(
    results: Path,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
    radio: str | None = None,
    ues: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Write figures/ and report.html under `results`; `radio` describes the radio in one line,
    `ues` has the UE of each flow, 0 if absent."""
    flows = largest(summary["flows"])
    if len(flows) < len(summary["flows"]):
        is_kept = tables["aligned"]["flow"].isin([flow["id"] for flow in flows])
        tables = tables | {"aligned": tables["aligned"][is_kept]}
    drawings = figures(tables, summary["flows"][0]["direction"], marks_of(summary), ues)
    images = svg.write(drawings, results)
    software = of_the_run(summary["software"])
    page = templates_of(_TEMPLATES).get_template(_PAGE).render(
        summary=summary,
        radio=radio,
        software=software,
        headlines=headlines(summary),
        run_rows=run_rows(summary),
        figures=[(name, CAPTIONS[name], inlined(image)) for name, image in images.items()],
        handovers=handover_rows(tables.get("handovers")),
        flows=flows,
        colours=colours_of_flows({flow["id"]: flow["cc"] for flow in flows}),
        flow_rows=flow_rows(flows),
        accounts=accounts(summary["cross_checks"]),
        **live_figures(drawings),
    )  # fmt: skip
    (results / "report.html").write_text(page, encoding="utf-8")


def marks_of(summary: dict[str, Any]) -> list[Mark]:
    """Return the changes during the run as marks on its time axis, one for each instant."""
    texts: dict[float, list[str]] = {}
    for one in summary.get("changes", []):
        texts.setdefault(one["t_s"], []).append(one["change"])
    return [Mark(t_s, ", ".join(each)) for t_s, each in texts.items()]
