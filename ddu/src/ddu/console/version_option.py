# SPDX-License-Identifier: Apache-2.0
"""The option `--version` of our commands."""

from __future__ import annotations

from typing import Annotated

import typer


def _print_version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from ddu.installation import version

        typer.echo(f"{context.info_name} {version()}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
]
