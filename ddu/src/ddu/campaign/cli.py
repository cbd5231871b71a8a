# SPDX-License-Identifier: Apache-2.0
"""The commands `ddu campaign …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="What a campaign's runs say together.")
out = Console(soft_wrap=True, highlight=False)


@app.callback()
def commands() -> None:
    """Keeps `ddu campaign report` a command of its own."""


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
