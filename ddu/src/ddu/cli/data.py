# SPDX-License-Identifier: Apache-2.0
"""The commands about data: compare, export, import, describe, schema."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ddu.errors import DduError
from testbed_console.suggestions import no_such

out = Console(soft_wrap=True, highlight=False)


_TABLE_NAMES = (
    "aligned, transport, mac, flows, sockets, cc, delay_cdf, iperf3, oai_l1, oai_rrc, oai_ue or "
    "oai_o1."
)


class Grouping(str, Enum):
    cc = "cc"
    scenario = "scenario"
    prb = "prb"
    direction = "direction"
    run = "run"


class Direction(str, Enum):
    dl = "dl"
    ul = "ul"


def register(app: typer.Typer) -> None:
    """Adds the commands to `ddu`."""
    app.command()(compare)
    app.command()(export)
    app.command(name="import")(import_)
    app.command()(describe)
    app.command()(schema)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, or directories of runs.")],
    by: Annotated[Grouping, typer.Option(help="What makes runs repeats of each other.")] = (
        Grouping.cc
    ),
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A figure of summary.json, as rtt_ms.p95; repeatable [default: seven of them]"
        ),
    ] = None,
    to: Annotated[Path, typer.Option(help="Directory to write to.")] = Path("comparison"),
    anew: Annotated[
        bool, typer.Option("--anew", help="Analyse again what has been analysed.")
    ] = False,
) -> None:
    """Compare runs: tables, throughput-delay ellipses, CDFs, intervals, effect sizes."""
    from ddu.compare.load import load_runs, same_runs
    from ddu.compare.page import write_comparison
    from ddu.compare.tables import METRICS, groups_table, mixtures, refuse_unknown

    metrics = tuple(metric or METRICS)
    found = load_runs(runs, by.value, reuse=not anew)
    refuse_unknown(found, metric or [])
    page = write_comparison(to, found, metrics)
    left_out = sum(not run.is_result for run in found)
    for row in groups_table(found, metrics[:1]).to_dict("records"):
        out.print(f"{row['group']}: {row['metric']} {row['mean']:.4g} ({row['runs']} runs)")
    for sentence in same_runs(found) + mixtures(found):
        out.print(sentence, style="yellow", markup=False)
    if left_out:
        out.print(f"[yellow]{left_out} invalid runs are in no mean[/]")
    out.print(str(page), markup=False)


def export(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    to: Annotated[
        Path | None, typer.Argument(help="File to write [default: standard output, as CSV]")
    ] = None,
    table: Annotated[str, typer.Option(help=_TABLE_NAMES)] = "aligned",
    form: Annotated[
        str | None,
        typer.Option("--format", help="csv, parquet, arrow or json [default: by the file's name]"),
    ] = None,
    columns: Annotated[str, typer.Option(help="Names with commas between [default: all]")] = "",
    first: Annotated[float | None, typer.Option("--from", help="From this t_s on (s).")] = None,
    last: Annotated[float | None, typer.Option("--until", help="Before this t_s (s).")] = None,
) -> None:
    """Write a table of a run as CSV, Parquet, Arrow or JSON Lines."""
    from ddu.api import open_run
    from ddu.export import chosen, format_of
    from ddu.export import export as write

    _need_known(table)
    form = format_of(to, form)
    try:
        found = open_run(run).table(table)
    except KeyError as error:
        raise DduError(str(error.args[0])) from None
    names = [name.strip() for name in columns.split(",") if name.strip()]
    write(chosen(found, names, first, last), to, form)


def import_(
    folder: Annotated[Path, typer.Argument(help="Folder with captures and logs; only read.")],
    runs: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    direction: Annotated[
        Direction | None, typer.Option(help="Way of the data [default: by the names]")
    ] = None,
    server: Annotated[Path | None, typer.Option(help="Capture at the server or core.")] = None,
    ue: Annotated[Path | None, typer.Option(help="Capture at the UE.")] = None,
    one_clock: Annotated[
        bool, typer.Option("--one-clock", help="One machine's clock stamped both captures.")
    ] = False,
) -> None:
    """Make run directories of a foreign folder, Hercules's among them, and tell its faults."""
    from ddu.importing.run import import_folder

    hosts = {name: file for name, file in (("server", server), ("ue", ue)) if file is not None}
    way = direction.value if direction else None
    for made in import_folder(folder, runs, way, hosts, one_clock):
        out.print(str(made.path), markup=False)
        for fault in made.faults:
            out.print(f"  {fault}", markup=False)


def describe(
    path: Annotated[Path, typer.Argument(help="A file or directory of any kind.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for programs.")] = False,
) -> None:
    """Tell what is in a directory or file, of when, and what is wrong with it."""
    from ddu.describe import describe as tell

    found = tell(path)
    if as_json:
        out.print_json(json.dumps(found, default=str))
        return
    files = found.pop("files", [])
    _show(found, "")
    for file in files:
        _show(file, "  ")


def schema(
    table: Annotated[str | None, typer.Argument(help=_TABLE_NAMES)] = None,
    run: Annotated[
        Path | None, typer.Option(help="The columns that this run has, with types and nulls.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, for programs.")] = False,
) -> None:
    """Columns, units and definitions of the tables."""
    from ddu.tables.columns import TABLES

    if table is not None:
        _need_known(table)
    names = [table] if table else list(TABLES)
    found = {name: columns for name in names if (columns := _columns(name, run))}
    if as_json:
        out.print_json(json.dumps({"schema_version": 1, "tables": found}))
        return
    for name, columns in found.items():
        out.print(f"[bold]{name}[/]")
        for each in columns:
            unit = f" [{each['unit']}]" if each["unit"] else ""
            out.print(f"  {each['name']}{unit}: {each['definition']}", markup=False)


def _need_known(table: str) -> None:
    from ddu.tables.columns import TABLES

    if table not in TABLES:
        raise DduError(no_such("table", table, TABLES))


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


def _show(found: dict[str, Any], indent: str) -> None:
    out.print(f"{indent}{found['path']}: {found['kind']}", markup=False)
    for key, value in found.items():
        if key in ("path", "kind") or value is None or value in ([], {}):
            continue
        if key == "columns":
            value = f"{len(value)}"
        if isinstance(value, dict):
            value = "; ".join(f"{k}: {v}" for k, v in value.items())
        if isinstance(value, list):
            value = "; ".join(map(str, value))
        out.print(f"{indent}  {key.replace('_', ' ')}: {value}", markup=False)
