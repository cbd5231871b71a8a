# SPDX-License-Identifier: Apache-2.0
"""The commands `ddu campaign …`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="What a campaign's runs say together.")
out = Console(soft_wrap=True, highlight=False)


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="The campaign's directory.")],
    scheduler: Annotated[
        str | None, typer.Option(help="Analyse on a Dask scheduler's workers.")
    ] = None,
) -> None:
    """Analyse what is not yet, and write report/: HTML, text, CSV, SVG."""
    from ddu.campaign.analysis import analyze_all
    from ddu.campaign.report import write_report

    out.print(str(write_report(directory, analyze_all(out, scheduler))), markup=False)


@app.command(hidden=True)
def check(place: Annotated[str, typer.Argument(help="The file, for messages.")]) -> None:
    """Whether the `report` of a campaign, JSON with its `factors` and `stop` on standard input, can
    be made.

    `ccu campaign` asks before the first run.
    """
    from ddu.campaign import plan

    content = json.load(sys.stdin)
    plan.check(content.get("report"), content["factors"], place, content.get("stop"))
