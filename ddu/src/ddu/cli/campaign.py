# SPDX-License-Identifier: Apache-2.0
"""The commands `ddu campaign …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Report on the runs of a campaign.")


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="Campaign directory.")],
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of Dask's scheduler, to analyse on its workers (default: this machine)."
        ),
    ] = None,
    tls: Annotated[
        Path | None,
        typer.Option(help="Folder of the cluster's certificates, which `ccu certificates` makes."),
    ] = None,
) -> None:
    """Analyse the runs that are not yet analysed, and write report/: HTML, text, CSV, SVG."""
    from rich.console import Console

    from ddu.campaign.analysis import analyze_all
    from ddu.campaign.report import write_report

    console = Console(soft_wrap=True, highlight=False)
    typer.echo(write_report(directory, analyze_all(console, scheduler, tls)))
