# SPDX-License-Identifier: Apache-2.0
"""The `ddu` command."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from ddu.cli import data as data_commands
from ddu.cli import reproductions as reproductions_command
from ddu.cli import store as store_commands
from ddu.cli import verify as verify_command
from ddu.cli.campaign import app as campaign_app
from ddu.console import ending
from ddu.readers.packets.implementations import Reader
from ddu.run.find import newest_run
from ddu.run.memory import shortage

app = typer.Typer(help="Analyse, compare, convert and publish recorded runs.", no_args_is_help=True,
                  add_completion=False)  # fmt: skip
app.add_typer(campaign_app, name="campaign")


store_commands.register(app)
data_commands.register(app)
verify_command.register(app)
reproductions_command.register(app)


@app.callback()
def commands() -> None:
    """Make typer keep `ddu analyze` a command of its own."""


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
    run: Annotated[Path | None, typer.Argument(help="Run directory (default: the newest).")] = None,
    runs: Annotated[Path, typer.Option(help="Directory of the runs.")] = Path("runs"),
    bin: Annotated[str, typer.Option(help="Width of a bin, from 1ms to 60s.")] = "20ms",
    reader: Annotated[
        Reader,
        typer.Option(help="Packet reader; dpkt is slow, and serves to check the native one."),
    ] = "native",
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write tables and summary only (faster).")
    ] = False,
) -> None:
    """Compute tables, summary.json, figures and report.html of a run."""
    # One analysis leaves next to no reference cycles: looking for them takes a tenth of a second.
    gc.disable()
    from ddu.api import analyze as analyze_run

    width_ns = bin_width_ns(bin)
    path = run or newest_run(runs)
    if sentence := shortage(path):
        typer.secho(f"ddu: {sentence}", fg="yellow", err=True)
    summary = analyze_run(path, width_ns, reader, not no_report)
    show(path, summary, "tables" if no_report else "report.html")


def show(path: Path, summary: dict[str, Any], made: str = "report.html") -> None:
    """Print the main metrics, and where the results are."""
    colour = {"valid": "green", "degraded": "yellow", "invalid": "red"}[summary["verdict"]]
    rtt, used = summary["rtt_ms"]["p50"], summary["utilisation_ratio"]
    rate_bps = summary["throughput_bps"]
    parts = [
        typer.style(summary["verdict"], fg=colour),
        f"{rate_bps / 1e6:.1f} Mbit/s" if rate_bps is not None else "throughput not captured",
        f"median RTT {rtt:.1f} ms" if rtt is not None else "no RTT",
        f"{used:.0%} of the link" if used is not None else "no MAC capacity",
    ]
    if summary["retransmissions_count"] is not None:
        parts.append(f"{summary['retransmissions_count']} retransmissions")
    if summary.get("clock") == "virtual":
        parts.append("virtual time")
    typer.echo(" · ".join(parts))
    for reason in summary["verdict_reasons"] + summary["not_captured"]:
        typer.echo(f"  {reason}")
    typer.echo(str(path / made))


def main() -> None:
    """Run the command; a user error is one message on stderr and an exit code."""
    ending.main(app, "ddu")
