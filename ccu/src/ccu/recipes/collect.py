# SPDX-License-Identifier: Apache-2.0
"""The recipe of a figure or table that is on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ccu.recipes.recipe import Made, Recipe, RunOf, packed
from ccu.runs.manifest import experiment_of
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.console.input_file import read_json, why_none
from ddu.console.problems import refusal
from ddu.run.integrity import described, files_of, regular_files, sha256_of
from ddu.run.manifest import read_content
from ddu.tables.results import is_analysed, summary_record

_MADE_BY: dict[str, Made] = {
    "run.json": "run",
    "comparison.json": "comparison",
    "campaign.json": "campaign",
}


def recipe_of(figure: Path) -> Recipe:
    """Return the recipe of a figure or table of a run, comparison or campaign.

    Raises RefusedError.
    """
    if not figure.is_file():
        fix = "name a figure or table of a run, comparison or campaign"
        raise refusal(why_none(figure), fix, file=figure)
    folder, made_by = _maker(figure)
    if made_by == "run":
        return _recipe(figure, folder, made_by, [_run(folder, figure)])
    if made_by == "comparison":
        return _of_comparison(figure, folder)
    return _of_campaign(figure, folder)


def _of_comparison(figure: Path, folder: Path) -> Recipe:
    file = folder / "comparison.json"
    try:
        content = read_json(file)
        paths = [(folder / one).resolve() for one in content["runs"]]
        options = {"by": content["by"], "metrics": content["metrics"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        rule = f"not a comparison.json of ddu ({error})"
        raise refusal(rule, "run `ddu compare` again", file=file) from None
    if not paths:
        raise refusal("it names no runs", "run `ddu compare` again", file=file)
    return _recipe(figure, folder, "comparison", list(map(_run, paths)), options=options)


def _maker(figure: Path) -> tuple[Path, Made]:
    for folder in figure.resolve().parents:
        for name, made_by in _MADE_BY.items():
            if (folder / name).is_file():
                return folder, made_by
    raise refusal(
        "is not in the directory of a run, comparison or campaign",
        "name one that `ddu analyze`, `ddu compare` or `ddu campaign report` wrote, where it was "
        "written",
        file=figure,
    )


def _recipe(figure: Path, folder: Path, made_by: Made, runs: list[RunOf], **more: Any) -> Recipe:
    software: dict[str, Any] = {}
    for run in runs:
        software |= run.manifest["software"]
    return Recipe(
        file=str(figure.resolve().relative_to(folder)),
        sha256=sha256_of(figure),
        made_by=made_by,
        software=software,
        seeds=sorted({run.manifest["seeds"]["experiment"] for run in runs}),
        runs=runs,
        **more,
    )


def _run(run: Path, figure: Path | None = None) -> RunOf:
    """Return what repeats a run. Raises RefusedError."""
    content = read_content(run)
    if content.get("status") != "finished":
        raise refusal("did not finish, and is no result", "name another run's", file=run)
    experiment = experiment_of(run)
    if not driver_of(experiment).repeatable:
        rule = f"the testbed {experiment.testbed.name} does not repeat runs to the byte"
        raise refusal(rule, "make the run with --testbed virtual", file=run)
    if experiment.traffic_files:
        raise refusal(
            "its traffic is a program of yours, which no recipe has", "share it", file=run
        )
    summary = summary_record(run) if is_analysed(run) else {}
    if figure is not None:
        _check_unchanged(run, figure, summary)
    sources = {f"raw/{one}" for one in _made_from(run, experiment)}
    kept = {name: packed((run / name).read_bytes()) for name in sorted(sources)}
    dropped = [one for one in _digests(run, content) if one["file"] not in sources]
    names = ("schema_version", "run", "status", "experiment", "software", "seeds")
    manifest = {name: content[name] for name in names}
    manifest["kept"] = {"level": "summary", "dropped": dropped}
    return RunOf(manifest=manifest, files=kept, bin_ms=summary.get("bin_ms", 20.0))


def _check_unchanged(run: Path, figure: Path, summary: Mapping[str, Any]) -> None:
    """Refuse a figure that is not as the analysis wrote it."""
    said = (files_of(summary) or {}).get(str(figure.resolve().relative_to(run)))
    if said is not None and said["sha256"] != sha256_of(figure):
        again = f"run `ddu analyze {run}`, or take the run's own"
        raise refusal("is not as `ddu analyze` wrote it", again, file=figure)


def _made_from(run: Path, experiment: Experiment) -> list[str]:
    """Return the files in raw/ that the run was made from."""
    from ccu.scenarios import nr_link

    raw = run / "raw"
    scenario = raw / "scenario.yaml"
    names = [one.name for one in raw.glob("cc-*") if one.suffix in (".py", ".c")]
    kept = [Path(value) for value in experiment.cc_params.values() if "/" in value]
    names += [file.name for file in kept if file.parent == raw.resolve()]
    if scenario.is_file():
        names += ["scenario.yaml", *nr_link.scenario(scenario)["files"]]
    return names


def _digests(run: Path, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the digests of the raw data: as run.json has them, of older runs as they are."""
    recorded = files_of(content)
    if recorded is not None:
        return list(recorded.values())
    return described(run, regular_files(run / "raw"))


def _of_campaign(figure: Path, folder: Path) -> Recipe:
    from ddu.campaign.load import load_campaign

    campaign = load_campaign(folder)
    paths = [one.path for one in campaign.results if one.path is not None]
    if not paths:
        raise refusal("no run has a result yet", "see `ccu campaign status`", file=folder)
    for path in paths:
        _refuse_own_files(path, folder)
    return _recipe(
        figure,
        folder,
        "campaign",
        [_run(path) for path in paths],
        campaign=campaign.definition.model_dump(mode="json", exclude_defaults=True),
        cells=[path.parent.name for path in paths],
    )


def _refuse_own_files(run: Path, campaign: Path) -> None:
    """Refuse a campaign that names files of the user's, which no recipe has."""
    experiment = read_content(run)["experiment"]
    written = [experiment.get("scenario") or "", *experiment.get("cc_params", {}).values()]
    written += [flow.get("cc_file") or "" for flow in experiment.get("flows", [])]
    written += [change["value"] for change in experiment.get("changes", [])]
    for one in written:
        if "/" in str(one):
            rule = f"its runs need {one}, which the recipe of a campaign does not have"
            raise refusal(rule, "name a figure of one of its runs", file=campaign)
