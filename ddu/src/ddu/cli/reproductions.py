# SPDX-License-Identifier: Apache-2.0
"""The command `ddu reproductions`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CAMPAIGNS = Path("campaigns")
PAGES = Path("docs/reproductions")
"""The pages, and the records of campaigns."""
Campaigns = Annotated[
    Path, typer.Option(help="Folder of the campaigns' files, with claims/ in it.")
]


def reproductions(
    runs: Annotated[Path, typer.Option(help="Folder of the campaigns' directories.")] = Path(
        "runs"
    ),
    campaigns: Campaigns = CAMPAIGNS,
    output: Annotated[
        Path, typer.Option(help="Folder for the pages and for the records of campaigns.")
    ] = PAGES,
) -> None:
    """Write what papers claim beside what campaigns measured: a page a paper, figures, a summary.

    A campaign without runs is represented by its record of earlier runs.
    """
    from rich.console import Console

    from ddu.campaign.analysis import analyze_all
    from ddu.reproductions.claims import read_papers
    from ddu.reproductions.pages import write_pages

    papers = read_papers(campaigns / "claims")
    console = Console(soft_wrap=True, highlight=False)
    page, less_complete = write_pages(papers, campaigns, runs, output, analyze_all(console))
    for name in less_complete:
        typer.echo(f"{name}: keeps its record of more runs; delete {output / name} to use these")
    typer.echo(page)
