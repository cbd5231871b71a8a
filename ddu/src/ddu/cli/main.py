# SPDX-License-Identifier: Apache-2.0
"""The `ddu` command."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Annotated

import typer

from ddu.cli.campaign import app as campaign_app
from ddu.cli.data import compare, describe, export, import_, schema
from ddu.cli.explain import explain
from ddu.cli.reproductions import reproductions
from ddu.cli.results import AsJson, Ending, Open
from ddu.cli.store import publish, serve, store_app, unpublish
from ddu.cli.verify import verify
from ddu.console import ending as end_of_command
from ddu.console.ending import error_text
from ddu.console.problems import RefusedError
from ddu.console.version_option import Version
from ddu.readers.packets.implementations import Reader
from ddu.report.text import REPORT
from ddu.run.find import newest_run, runs_of
from ddu.run.memory import shortage

app = typer.Typer(
    no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]}
)  # fmt: skip
app.add_typer(campaign_app, name="campaign")
app.add_typer(store_app, name="store")
for one in (
    publish, unpublish, serve, compare, export, import_, describe, schema, explain, verify,
    reproductions,
):  # fmt: skip
    app.command(one.__name__.rstrip("_"))(one)


@app.callback()
def commands(_version: Version = False) -> None:
    """Analyse, compare, convert and publish recorded runs.

    \b
    ddu analyze                 the newest run: tables, figures, report
    ddu compare runs/           all runs of a folder beside each other
    ddu serve                   all reports in a browser
    ddu export RUN table.csv    a table for another program
    """


def bin_width_ns(text: str) -> int:
    """Parse `20ms`, `1s` …, from 1 ms to 60 s, into ns."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|ms|s)", text.strip())
    width = round(float(match[1]) * {"us": 1e3, "ms": 1e6, "s": 1e9}[match[2]]) if match else 0
    if not 1_000_000 <= width <= 60_000_000_000:
        raise typer.BadParameter(
            f"{text!r} is not a width from 1ms to 60s, such as 20ms or 0.1s", param_hint="--bin"
        )
    return width


@app.command()
def analyze(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN", help="Run directories, or folders of runs (default: the newest run)."
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Directory of the runs.")] = Path("runs"),
    bin: Annotated[str, typer.Option(help="Width of a bin, from 1ms to 60s.")] = "20ms",
    reader: Annotated[
        Reader,
        typer.Option(help="Packet reader; dpkt is slow, and serves to check the native one."),
    ] = "native",
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write tables and summary only (faster).")
    ] = False,
    as_json: AsJson = False,
    open_report: Open = False,
) -> None:
    """Compute tables, summary.json, figures and report.html of a run, or of each in a folder."""
    # One analysis leaves next to no reference cycles: looking for them takes a tenth of a second.
    gc.disable()
    from ddu.api import analyze as analyze_run

    width_ns = bin_width_ns(bin)
    ending = Ending(as_json, open_report)
    chosen = runs_of(paths) if paths else [newest_run(runs)]
    refused: list[RefusedError] = []
    for path in chosen:
        if sentence := shortage(path):
            typer.secho(f"ddu: {sentence}", fg="yellow", err=True)
        try:
            summary = analyze_run(path, width_ns, reader, not no_report)
        except RefusedError as error:
            if len(chosen) == 1:
                raise
            refused.append(error)
            typer.secho(error_text("ddu", str(error)), err=True)
            continue
        ending.show(path, summary, "tables" if no_report else REPORT)
    if refused:
        left_out = f"runs that cannot be analysed: {len(refused)} of {len(chosen)}"
        typer.secho(left_out, fg="yellow", err=True)
        raise typer.Exit(1)


def main() -> None:
    """Run the command; a user error is one message on stderr and an exit code."""
    end_of_command.main(app, "ddu")
