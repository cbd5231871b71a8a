# SPDX-License-Identifier: Apache-2.0
"""The comparison as a self-contained page, its figures as SVG and its tables as CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.campaign.metrics import shown
from ddu.compare import parting
from ddu.compare.figures import CAPTIONS, figures
from ddu.compare.load import Compared, names_of, one_observation, same_runs
from ddu.compare.tables import alone, groups_table, mixtures, pairs_table, runs_table
from ddu.console.problems import refusal
from ddu.errors import unwritable
from ddu.report import svg
from ddu.report.palette import colours_of
from ddu.report.templates import inlined, link_to_run, live_figures, records, templates_of
from ddu.run.durable import replace_all, temporary_folder
from ddu.run.manifest import write_json

TABLES = ("runs", "groups", "pairs")


def write_comparison(
    directory: Path, runs: list[Compared], metrics: tuple[str, ...], by: str
) -> Path:
    """Write comparison.html, figures/, runs.csv, groups.csv, pairs.csv, and comparison.json with
    what was compared; return the page.

    Written whole or not at all. Raises RefusedError when no run has a result.
    """
    if not any(run.is_result for run in runs):
        raise refusal("every run is invalid, so there is no result to compare")
    tables = {
        "runs": runs_table(runs, metrics),
        "groups": groups_table(runs, metrics),
        "pairs": pairs_table(runs, metrics),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with temporary_folder(directory, ".comparison-") as made:
            drawings, parted = figures(runs), parting.partings(runs)
            every = drawings | {name: parting.figure(one) for name, one in parted.items()}
            images = svg.write(every, made)
            for name, table in tables.items():
                table.to_csv(made / f"{name}.csv", index=False)
            paths = [os.path.relpath(run.path, directory) for run in runs]
            write_json(
                made / "comparison.json",
                {"schema_version": 1, "by": by, "metrics": list(metrics), "runs": paths},
            )
            page = _page(directory, runs, metrics, tables)
            page["parted"] = [
                parting.described(one) | {"image": inlined(images[name])}
                for name, one in parted.items()
            ]
            drawn = [(name, CAPTIONS[name], inlined(images[name])) for name in drawings]
            html = templates_of("ddu.compare").get_template("comparison.html.j2")
            content = html.render(figures=drawn, **page, **live_figures(drawings))
            (made / "comparison.html").write_text(content, encoding="utf-8")
            replace_all(made, directory)
    except OSError as error:
        raise unwritable(directory, "cannot be written", error) from None
    return directory / "comparison.html"


def _page(
    directory: Path,
    runs: list[Compared],
    metrics: tuple[str, ...],
    tables: dict[str, pd.DataFrame],
) -> dict[str, Any]:
    labels = list(dict.fromkeys(run.label for run in runs))
    by_name = dict(zip(names_of(runs), runs, strict=True))
    return {
        "title": " and ".join(labels) if len(labels) < 4 else f"{len(labels)} groups of runs",
        "metrics": {name: shown(name) for name in metrics},
        "shown": shown,
        "colours": colours_of(labels),
        "warnings": same_runs(runs) + one_observation(runs) + mixtures(runs) + alone(runs),
        "reasons": {name: run.summary["verdict_reasons"] for name, run in by_name.items()},
        "links": {name: link_to_run(run.path, directory) for name, run in by_name.items()},
        **{name: records(table) for name, table in tables.items()},
    }
