# SPDX-License-Identifier: Apache-2.0
"""The command `ddu explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


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
    said = [explanation.at(path, _seconds(at))] if at is not None else []
    if worst is not None or at is None:
        said.append(explanation.worst(path, worst or 3))
    typer.echo("\n\n".join(said))


def _seconds(text: str) -> float:
    for unit, scale in (("ms", 1e-3), ("s", 1.0), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * scale
            except ValueError:
                break
    raise typer.BadParameter(f"{text!r} is not an instant such as 12.4s", param_hint="--at")
