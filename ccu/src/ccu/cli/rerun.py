# SPDX-License-Identifier: Apache-2.0
"""`ccu rerun`: a run again, by its manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ccu.cli.results import Results
from ccu.cli.run import DryRun, Output, perform
from ccu.runs import manifest
from ccu.runs.comparison import first_difference
from ccu.spec.places import written_at
from ccu.testbeds import driver_of

app = typer.Typer(add_completion=False)


@app.command()
def rerun(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    output: Output = Path("runs"),
    dry_run: DryRun = False,
) -> None:
    """Repeat a run: its experiment, with the scenario that it played.

    If the testbed repeats runs to the byte, compare the raw data, and exit with 1 if they differ.
    """
    experiment = manifest.experiment_of(run)
    with written_at({}, elsewhere=str(run / "run.json")):
        repeated = perform(experiment, output, dry_run, Results(analyse=False))
    driver = driver_of(experiment)
    if repeated is None or not driver.repeatable:
        return
    difference = first_difference(run, repeated, driver.machine_files)
    print(f"not identical: {difference}" if difference else f"identical to {run}")
    if difference:
        raise typer.Exit(1)
