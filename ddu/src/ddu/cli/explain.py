# SPDX-License-Identifier: Apache-2.0
"""The command `ddu explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddu.console.quantities import seconds


def explain(
    run: Annotated[
        Path | None, typer.Argument(help="Run of `ccu run --explain` (default: the newest).")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Instant since the first payload packet, such as 12.4s.")
    ] = None,
    worst: Annotated[
        int | None, typer.Option(min=1, help="The packets with the longest delays (default: 3).")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Directory of the runs.")] = Path("runs"),
) -> None:
    """Say in words where the delay of packets went."""
    from ddu import explain as explanation
    from ddu.run.find import newest_run

    path = run or newest_run(runs)
    said = [explanation.at(path, _instant_s(at))] if at is not None else []
    if worst is not None or at is None:
        said.append(explanation.worst(path, worst or 3))
    typer.echo("\n\n".join(said))


def _instant_s(text: str) -> float:
    try:
        return seconds(text, "12.4s")
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--at") from None
