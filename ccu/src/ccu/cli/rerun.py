# SPDX-License-Identifier: Apache-2.0
"""`ccu rerun`: a run again, by its manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ccu.cli.run import DryRun, Output, perform
from ccu.runs import manifest
from ccu.spec.places import written_at

app = typer.Typer(add_completion=False)


@app.command()
def rerun(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    output: Output = Path("runs"),
    dry_run: DryRun = False,
) -> None:
    """Repeat a run: its experiment, with the scenario that it played."""
    experiment = manifest.experiment_of(run)
    with written_at({}, elsewhere=str(run / "run.json")):
        perform(experiment, output, dry_run)
