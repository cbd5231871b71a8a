# SPDX-License-Identifier: Apache-2.0
"""Carrying out a recipe, and comparing what comes out with what it says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ccu.host import programs
from ccu.recipes.recipe import Recipe, RunOf
from ccu.recipes.report import Report
from ccu.runs import run as runs
from ccu.runs.comparison import first_difference
from ccu.runs.manifest import experiment_of, software_of
from ccu.spec.errors import RunFailed
from ccu.testbeds import driver_of
from ddu.console.problems import refusal
from ddu.run.find import runs_under
from ddu.run.integrity import sha256_of


def difference(recipe: Recipe, folder: Path, report: Report) -> str | None:
    """Make everything again below `folder`; return the first difference, None if there is none.

    Raises RefusedError or RunFailed.
    """
    if recipe.made_by == "campaign":
        return _of_campaign(recipe, folder, report)
    made = []
    for number, one in enumerate(recipe.runs):
        report(f"run {number + 1} of {len(recipe.runs)}: {one.manifest['run']}")
        repeated, differs = _repeated(one, folder / f"{number:04}")
        if differs:
            return f"{one.manifest['run']}: {differs}"
        made.append(repeated)
    report("analysing")
    if recipe.made_by == "run":
        _analyze(made[0], recipe.runs[0])
        return _unlike(recipe, made[0])
    return _unlike(recipe, _compared(recipe, made, folder / "comparison"))


def _repeated(run: RunOf, folder: Path) -> tuple[Path, str | None]:
    """Return the run, made again, and where its raw data differ."""
    played = folder / "recipe"
    run.write(played)
    experiment = experiment_of(played)
    driver = driver_of(experiment)
    repeated = runs.run(experiment, folder / "run", lambda _stage, _share: None)
    return repeated, first_difference(played, repeated, driver.machine_files)


def _analyze(run: Path, of: RunOf) -> None:
    from ddu.api import analyze

    analyze(run, round(of.bin_ms * 1e6))


def _compared(recipe: Recipe, made: list[Path], folder: Path) -> Path:
    from ddu.compare.load import load_runs
    from ddu.compare.page import write_comparison

    for run, of in zip(made, recipe.runs, strict=True):
        _analyze(run, of)
    by = str(recipe.options.get("by", "cc"))
    write_comparison(folder, load_runs(made, by), tuple(recipe.options.get("metrics", ())), by)
    return folder


def _unlike(recipe: Recipe, folder: Path) -> str | None:
    """Return how the figure differs; None if it does not."""
    file = folder / recipe.file
    if not file.is_file():
        return f"{recipe.file} was not made"
    same = sha256_of(file) == recipe.sha256
    return None if same else f"{recipe.file} has another SHA-256, from the same raw data"


def _of_campaign(recipe: Recipe, folder: Path, report: Report) -> str | None:
    assert recipe.campaign is not None
    folder.mkdir(parents=True, exist_ok=True)
    definition = {key: value for key, value in recipe.campaign.items() if key != "profile"}
    file = folder / f"{definition['name']}.yaml"
    file.write_text(json.dumps(definition))
    report(f"campaign {definition['name']}: {len(recipe.runs)} runs")
    output = str(folder / "campaigns")
    _command("ccu", "campaign", "run", str(file), "--output", output, "--keep", "raw")
    (campaign,) = (folder / "campaigns").iterdir()
    for cell, of in zip(recipe.cells, recipe.runs, strict=True):
        played = folder / "recipes" / cell
        of.write(played)
        machine_files = driver_of(experiment_of(played)).machine_files
        repeated = runs_under(campaign / "runs" / cell)
        if not repeated:
            return f"{cell}: the run was not made"
        if differs := first_difference(played, repeated[0], machine_files):
            return f"{cell}: {differs}"
    report("writing the campaign's report")
    _command("ddu", "campaign", "report", str(campaign))
    return _unlike(recipe, campaign)


def _command(program: str, *arguments: str) -> None:
    command = [programs.require(program), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        said = (ran.stderr or ran.stdout).strip().splitlines() or ["no reason given"]
        raise RunFailed("campaign", f"{program} {arguments[0]}: {said[-1]}")


def other_versions(recipe: Recipe) -> list[str]:
    """Return what of the software that made the recipe is another version here, in words."""
    first = recipe.runs[0].manifest
    try:
        here = software_of(_experiment(first))
    except ValueError:
        return []
    return [
        f"{name}: {made} there, {here.get(name)} here"
        for name, made in recipe.software.items()
        if here.get(name) != made
    ]


def _experiment(manifest: dict[str, Any]) -> Any:
    from ccu.spec.experiment import Experiment

    try:
        return Experiment.from_record(manifest["experiment"])
    except ValueError as error:
        raise refusal(f"its experiment is not valid ({error})", "get the recipe again") from None
