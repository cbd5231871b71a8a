# SPDX-License-Identifier: Apache-2.0
"""`ccu recipe`: what a figure or table is made of, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddu.console.ownership import give_to_sudo_user
from ddu.errors import unwritable
from ddu.run.durable import replace_text

app = typer.Typer(add_completion=False)


@app.command()
def recipe(
    figure: Annotated[
        Path, typer.Argument(help="Figure or table of a run, comparison or campaign.")
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            help="File to write. (default: its name with .recipe, in this folder)",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write what a figure or table is made of: experiments, versions, seeds, digests."""
    from ccu.recipes.collect import recipe_of

    made = recipe_of(figure)
    file = to or Path(f"{figure.name}.recipe")
    try:
        replace_text(file, made.text())
    except OSError as error:
        raise unwritable(file, "cannot be written", error) from None
    give_to_sudo_user(file)
    count = len(made.runs)
    print(f"{file}: {count} run{'s' if count > 1 else ''}\nnext: ccu verify {file}")
