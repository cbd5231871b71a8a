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

from testbed_console.problems import RefusedError

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
def check(
    file: Annotated[str, typer.Argument(help="Name of the campaign's file, for messages.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the problems as a JSON list on standard output.")
    ] = False,
) -> None:
    """Check that the `report` and `stop` of a campaign can be carried out.

    Standard input: a JSON object with `factors`, `report` and `stop`, as `ccu campaign` sends it
    before the first run. The exit code is 2 if there is a problem.
    """
    from ddu.campaign.plan import problems_of

    content = json.load(sys.stdin)
    problems = problems_of(
        content.get("report"), content["factors"], file, content.get("stop") or ()
    )
    if as_json:
        print(json.dumps([problem.to_json() for problem in problems], indent=2))
        raise typer.Exit(RefusedError.exit_code if problems else 0)
    if problems:
        raise RefusedError(problems)
