# SPDX-License-Identifier: Apache-2.0
"""`ccu verify`: a recipe carried out again, and compared."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="Recipe that `ccu recipe` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option(
            help="New folder for what is made again. (default: none of it stays)",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a figure or table again by its recipe, and say whether it is identical.

    Exits with 1 if it is not.
    """
    from ccu.recipes import recipe as recipes
    from ccu.recipes.verify import difference, other_versions
    from ddu.console.problems import refusal

    recipe = recipes.read(file)
    if output is not None and output.exists():
        raise refusal("is there already", "name a new folder", file=output)
    with tempfile.TemporaryDirectory(prefix="ccu-verify-") as passing:
        differs = difference(recipe, output or Path(passing), print)
    if differs is None:
        count = len(recipe.runs)
        print(f"identical: {recipe.file} and the raw data of {count} run{'s' if count > 1 else ''}")
        return
    print(f"not identical: {differs}")
    for sentence in other_versions(recipe):
        print(f"  {sentence}")
    raise typer.Exit(1)
