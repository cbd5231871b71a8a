# SPDX-License-Identifier: Apache-2.0
"""`ccu campaign verify`: a published campaign, carried out again and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddu.cli.reproductions import CAMPAIGNS, PAGES, Campaigns

if TYPE_CHECKING:
    from ccu.recipes.published import Verified


def verify(
    name: Annotated[str, typer.Argument(help="Campaign that has a record among the pages.")],
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Number of its runs, drawn at random. (default: all)",
                     show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 1,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of runs at a time. (default: one per core)",
                     show_default=False),
    ] = None,
    pages: Annotated[Path, typer.Option(help="Folder of the pages and records.")] = PAGES,
    campaigns: Campaigns = CAMPAIGNS,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what is made again; the same command then resumes. (default: none of "
            "it stays)",
            show_default=False,
        ),
    ] = None,
) -> None:  # fmt: skip
    """Run a published campaign again, or a sample of it, and compare every number and page.

    Exits with 1 if anything differs.
    """
    from ccu.campaigns import definition
    from ccu.campaigns.folder import default_path
    from ccu.campaigns.testbed import on_a_testbed
    from ccu.recipes import published
    from ddu.reproductions.claims import read_papers

    there = published.read(name, pages, campaigns, read_papers(campaigns / "claims"))
    record = there.record
    campaign = definition.read(campaigns / f"{name}.yaml", record.profile)
    if record.testbed:
        # Where the record's testbed cannot be, none else gives the same bytes.
        base = {"testbed": record.testbed, **campaign.base}
        campaign = campaign.model_copy(update={"base": base})
    runs = there.sample(sample, seed)
    of_all = f"{len(runs)} of {len(record.runs)} runs"
    print(f"{name}, profile {record.profile}: {of_all}, of {record.git_revision[:12]}")
    with tempfile.TemporaryDirectory(prefix="ccu-verify-") as passing:
        made = output or Path(passing) / "runs"
        campaign, notices = on_a_testbed(campaign, default_path(campaign, made))
        for notice in notices:
            print(notice)
        each, numbers = published.verified(there, campaign, runs, made, print, jobs)
        files = published.differing_pages(there, numbers, Path(passing) / "pages")
    _print_comparison(each, [pages / file for file in files])
    if files or any(one.differences for one in each):
        raise typer.Exit(1)


def _print_comparison(runs: Sequence[Verified], differing_pages: Sequence[Path]) -> None:
    for run in runs:
        for difference in run.differences:
            print(f"not identical: {run.title}: {difference}")
        if not run.differences:
            print(f"identical: {run.title} ({run.columns} columns)")
    for page in differing_pages:
        print(f"not identical: {page}")
    differing = sum(bool(run.differences) for run in runs)
    if differing or differing_pages:
        of_pages = f"{len(differing_pages)} files of the pages"
        print(f"not identical: {differing} of {len(runs)} runs, {of_pages}")
    else:
        print(f"identical: {len(runs)} runs, and all pages, tables and figures")
