# SPDX-License-Identifier: Apache-2.0
"""`ccu testbed`: a testbed started manually, which stays up."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ccu.cli.options import experiment_options, takes_flags
from ccu.host.root import need_root
from ccu.runs import manual
from ccu.scenarios.resolve import resolve
from ddu.console.problems import Problem, RefusedError
from ddu.console.suggestions import instead_of

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Start a testbed manually, and leave it up."
)


@app.command()
@takes_flags(experiment_options("prb", "ues"), manual.testbeds())
def up(
    flags: dict[str, Any],
    testbed: Annotated[str, typer.Argument(help=f"One of {', '.join(manual.testbeds())}.")] = next(
        iter(manual.testbeds()), ""
    ),
) -> None:
    """Start a testbed, attach its UEs, and leave it running."""
    if testbed not in manual.testbeds():
        raise RefusedError(
            Problem(
                f"{testbed!r} cannot be started manually", instead_of(testbed, manual.testbeds())
            )
        )
    experiment = resolve({"cc": "cubic", "testbed": testbed, **flags})
    need_root()
    for note in manual.up(experiment, print):
        print(note)
    _show(manual.status())
    print("next: ccu testbed shell ue1; ccu testbed down")


@app.command()
def status() -> None:
    """Show what runs, and the addresses of the UEs."""
    need_root()
    _show(manual.status())


@app.command()
def shell(
    part: Annotated[str, typer.Argument(help="Part of the testbed, as `status` names it.")],
) -> None:
    """Open a shell in a part of the testbed."""
    need_root()
    command = manual.shell_command(part)
    os.execvp(command[0], command)


@app.command()
def down() -> None:
    """Remove everything that `up` made, except its logs."""
    need_root()
    for sentence in manual.down() or ["no testbed was up"]:
        print(sentence)


def _show(rows: list[tuple[str, str]]) -> None:
    table = Table(box=None, show_header=False)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
