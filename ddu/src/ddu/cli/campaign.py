# SPDX-License-Identifier: Apache-2.0
"""The commands `ddu campaign …`."""

from __future__ import annotations

import json
import signal
import sys
import time
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
) -> None:
    """Analyse the runs that are not yet analysed, and write report/: HTML, text, CSV, SVG."""
    from rich.console import Console

    from ddu.campaign.analysis import analyze_all
    from ddu.campaign.report import write_report

    console = Console(soft_wrap=True, highlight=False)
    typer.echo(write_report(directory, analyze_all(console, scheduler)))


@app.command(hidden=True)
def analyze() -> None:
    """Analyse runs, one after another, for `ccu campaign`.

    Standard input: a line for each run, its path as a JSON string. The answer to each is a line
    with a JSON object: `problem` is null when tables and summary are complete; `cpu_s` is what the
    analysis took.
    """
    from ddu.campaign.analysis import problem_of

    # An analysis that is ended removes what it has begun.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for line in sys.stdin:
        began_s = time.process_time()
        problem = problem_of(json.loads(line))
        cpu_s = round(time.process_time() - began_s, 3)
        print(json.dumps({"problem": problem, "cpu_s": cpu_s}), flush=True)


@app.command(hidden=True)
def check() -> None:
    """Check that the `report` and `stop` of campaigns can be carried out, for `ccu campaign`.

    Standard input: a line for each campaign, a JSON object with its `factors`, `report` and `stop`.
    The answer to each is a line with a JSON list of problems (docs/errors.md).
    """
    from ddu.campaign.plan import problems_of

    for line in sys.stdin:
        asked = json.loads(line)
        problems = problems_of(asked["report"], asked["factors"], asked["stop"])
        print(json.dumps([problem.to_json() for problem in problems]), flush=True)
