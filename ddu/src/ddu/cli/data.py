# SPDX-License-Identifier: Apache-2.0
"""The commands about data: compare, export, import, describe, schema."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ddu.console.ending import error_text
from ddu.console.problems import RefusedError
from ddu.console.suggestions import unknown

_TABLE_NAMES = (
    "Table: aligned, transport, mac, flows, sockets, cc, events, radio_events, handovers, "
    "delay_cdf, delays, iperf3, quic, channel, oai_l1, oai_rrc, oai_ue, oai_o1 or mac_pdus."
)


Grouping = Literal["cc", "scenario", "prb", "direction", "run"]
Direction = Literal["dl", "ul"]


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, or directories of runs.")],
    by: Annotated[
        Grouping, typer.Option(help="Property that makes runs repeats of each other.")
    ] = "cc",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric of summary.json, such as rtt_ms.p95; repeatable (default: the usual ones)."
        ),
    ] = None,
    to: Annotated[Path, typer.Option(help="Output directory.")] = Path("comparison"),
    reanalyze: Annotated[bool, typer.Option("--reanalyze", help="Analyse all runs again.")] = False,
) -> None:
    """Compare runs: tables, throughput-delay ellipses, CDFs, intervals, effect sizes."""
    from ddu.compare.load import load_runs, one_observation, same_runs, uncaptured, unfinished
    from ddu.compare.page import write_comparison
    from ddu.compare.tables import grouped, means_text, mixtures, refuse_unknown, usual_metrics

    refused: list[RefusedError] = []
    try:
        loaded = load_runs(runs, by, not reanalyze, refused.append)
    except RefusedError as too_few:
        all_of_them = (*refused, too_few)
        raise RefusedError([one for each in all_of_them for one in each.problems]) from None
    metrics = tuple(dict.fromkeys(metric or usual_metrics(loaded)))
    refuse_unknown(loaded, metric or [])
    page = write_comparison(to, loaded, metrics, by)
    left_out = sum(not run.is_result for run in loaded)
    typer.echo(means_text(loaded, metrics))
    for sentence in same_runs(loaded) + one_observation(loaded) + mixtures(loaded):
        typer.secho(sentence, fg="yellow")
    if others := unfinished(runs):
        typer.secho(f"runs left out that did not finish: {len(others)}", fg="yellow")
    if without := uncaptured(runs):
        typer.secho(f"runs left out that have no capture: {len(without)}", fg="yellow")
    if left_out:
        typer.secho(f"invalid runs left out of the means: {left_out}", fg="yellow")
    if any(len(group) == 1 for group in grouped(loaded).values()):
        typer.echo("next: ccu run each with another --seed, for intervals; then ddu compare all")
    else:
        folder = [shlex.quote(str(one)) for one in runs if len(runs) == 1]
        typer.echo(" ".join(["next: ddu serve", *folder]))
    typer.echo(str(page))
    for error in refused:
        typer.secho(error_text("ddu", str(error)), err=True)
    if refused:
        typer.secho(f"runs left out that cannot be read: {len(refused)}", fg="yellow", err=True)
        raise typer.Exit(1)


def export(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    to: Annotated[
        Path | None, typer.Argument(help="Output file (default: standard output, as CSV).")
    ] = None,
    table: Annotated[str, typer.Option(help=_TABLE_NAMES)] = "aligned",
    form: Annotated[
        str | None,
        typer.Option("--format", help="csv, parquet, arrow or json (default: by the file's name)."),
    ] = None,
    columns: Annotated[str, typer.Option(help="Columns, separated by commas (default: all).")] = "",
    first: Annotated[
        float | None,
        typer.Option("--from", help="Start of the rows, t_s in s (default: the first)."),
    ] = None,
    last: Annotated[
        float | None,
        typer.Option("--until", help="End of the rows, t_s in s, exclusive (default: the last)."),
    ] = None,
) -> None:
    """Write a table of a run as CSV, Parquet, Arrow or JSON Lines."""
    from ddu.api import open_run
    from ddu.export import chosen, format_of
    from ddu.export import export as write

    _need_known(table)
    form = format_of(to, form)
    try:
        frame = open_run(run).table(table)
    except KeyError as error:
        raise RefusedError(error.args[0]) from None
    names = [name.strip() for name in columns.split(",") if name.strip()]
    write(chosen(frame, names, first, last), table, to, form)


def import_(
    folder: Annotated[
        Path, typer.Argument(help="Folder with captures and logs; it is not changed.")
    ],
    runs: Annotated[Path, typer.Option(help="Directory for the run directories.")] = Path("runs"),
    direction: Annotated[
        Direction | None, typer.Option(help="Direction of the data (default: from file names).")
    ] = None,
    server: Annotated[Path | None, typer.Option(help="Capture at the server or core.")] = None,
    ue: Annotated[Path | None, typer.Option(help="Capture at the UE.")] = None,
    one_clock: Annotated[
        bool,
        typer.Option("--one-clock", help="One machine made both captures: their clocks agree."),
    ] = False,
) -> None:
    """Make run directories from a folder of foreign data, such as Hercules's; report its faults."""
    from ddu.importing.run import import_folder

    hosts = {name: file for name, file in (("server", server), ("ue", ue)) if file is not None}
    for made in import_folder(folder, runs, direction, hosts, one_clock):
        typer.echo(str(made.path))
        for fault in made.faults:
            typer.echo(f"  {fault}")


def describe(
    path: Annotated[Path, typer.Argument(help="File or directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Describe a file or directory: format, size, time range and faults."""
    from ddu.describe import describe as described
    from ddu.describe import next_step

    description = described(path)
    if as_json:
        typer.echo(json.dumps(description, default=str, indent=2, ensure_ascii=False))
        return
    files = description.pop("files", [])
    _show(description, "")
    for file in files:
        _show(file, "  ")
    if following := next_step(path, description):
        typer.echo(f"next: {following} {shlex.quote(str(path))}")


def schema(
    table: Annotated[str | None, typer.Argument(help=_TABLE_NAMES)] = None,
    run: Annotated[
        Path | None, typer.Option(help="List the columns of this run, with types and nulls.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List columns, units and definitions of the tables."""
    from ddu.tables.columns import TABLES

    if table is not None:
        _need_known(table)
    names = [table] if table else list(TABLES)
    tables = {name: columns for name in names if (columns := _columns(name, run))}
    if as_json:
        content = {"schema_version": 1, "tables": tables}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    for name, columns in tables.items():
        typer.secho(name, bold=True)
        for each in columns:
            unit = f" [{each['unit']}]" if each["unit"] else ""
            found_in_run = f" ({each['type']}, nulls: {each['null_count']})" if run else ""
            typer.echo(f"  {each['name']}{unit}{found_in_run}: {each['definition']}")


def _need_known(table: str) -> None:
    from ddu.tables.columns import TABLES

    if table not in TABLES:
        raise RefusedError(unknown("table", table, TABLES))


def _columns(table: str, run: Path | None) -> list[dict[str, Any]]:
    from ddu.tables.columns import columns_of, described

    if run is None:
        return [
            {"name": each.name, "unit": each.unit, "definition": each.definition}
            for each in columns_of(table)
        ]
    from ddu.api import open_run

    try:
        return described(open_run(run).table(table), table)
    except KeyError:
        return []


def _show(description: dict[str, Any], indent: str) -> None:
    typer.echo(f"{indent}{description['path']}: {description['kind']}")
    for key, value in description.items():
        if key in ("path", "kind") or value is None or value in ([], {}):
            continue
        if key == "columns":
            value = f"{len(value)}"
        if isinstance(value, dict):
            value = "; ".join(f"{k}: {v}" for k, v in value.items())
        if isinstance(value, list):
            value = "; ".join(map(str, value))
        typer.echo(f"{indent}  {key.replace('_', ' ')}: {value}")
