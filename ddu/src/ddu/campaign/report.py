# SPDX-License-Identifier: Apache-2.0
"""A campaign's report: tables as CSV, figures as SVG, one page as HTML and as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.campaign.figures import Aligned, Figures, write_figures
from ddu.campaign.load import CampaignDirectory, load_campaign, summaries
from ddu.campaign.metrics import shown
from ddu.campaign.tables import comparisons_table, points_table, reference_table, runs_table
from ddu.console.problems import refusal
from ddu.report.templates import link_to_run, records, templates_of
from ddu.run import durable
from ddu.run.software import of_the_run
from ddu.tables.results import read_table


def write_report(path: Path, analyze: Callable[[list[Path]], None]) -> Path:
    """Analyse runs that have no results yet, write report/, and return the page.

    Raises RefusedError when there is nothing to report; report/ is then as it was.
    """
    campaign = load_campaign(path)
    plan = campaign.definition.report
    if not campaign.results:
        raise refusal("no run has a result yet", "see `ccu campaign status`", file=path)
    results = summaries(campaign, analyze)
    runs = runs_table(campaign, results)
    factors = list(campaign.definition.factors)
    tables = {
        "runs": runs,
        "points": points_table(runs, factors, plan),
        "comparisons": comparisons_table(runs, factors, plan),
        "reference": reference_table(runs, plan),
    }
    report = path / "report"
    report.mkdir(exist_ok=True)
    figures = write_figures(report / "figures", runs, plan.figures, _aligned_of(path))
    for name, table in tables.items():
        durable.replace_text(report / f"{name}.csv", table.to_csv(index=False))
    content = _content(campaign, tables, figures, plan.metrics)
    first = next(iter(results.values()), {})
    content["software"] = of_the_run(campaign.software | first.get("software", {}))
    content["links"] = _links(campaign, report)
    environment = templates_of("ddu.campaign")
    page = environment.get_template("page.html.j2").render(content)
    durable.replace_text(report / "report.html", page)
    text = environment.overlay(autoescape=False).get_template("page.md.j2").render(content)
    durable.replace_text(report / "report.md", text)
    return report / "report.html"


def _content(
    campaign: CampaignDirectory,
    tables: dict[str, pd.DataFrame],
    figures: Figures,
    metrics: tuple[str, ...],
) -> dict[str, Any]:
    verdicts = tables["runs"]["verdict"].value_counts().to_dict()
    rows = {name: records(table) for name, table in tables.items()}
    without = [row for row in rows["runs"] if row["verdict"] not in ("valid", "degraded")]
    return {
        "campaign": campaign.definition,
        "factors": list(campaign.definition.factors),
        "metrics": {name: shown(name) for name in metrics},
        "shown": shown,
        "verdicts": verdicts,
        "figures": figures.made,
        "without_tables": figures.without_tables,
        "without": without,
        **rows,
    }


def _links(campaign: CampaignDirectory, report: Path) -> Callable[[dict[str, Any]], list[str]]:
    """Return a function of a point's row that returns the links to its runs, in order of seeds."""

    def of_point(row: dict[str, Any]) -> list[str]:
        there = [cell for cell in campaign.results if cell.levels.items() <= row.items()]
        return [link_to_run(cell.path, report) for cell in there if cell.path is not None]

    return of_point


def _aligned_of(path: Path) -> Aligned:
    def read(run: str, columns: tuple[str, ...]) -> pd.DataFrame:
        # A figure needs three of seventy columns: the others are not read.
        return read_table(path / run, "aligned", columns)

    return read
