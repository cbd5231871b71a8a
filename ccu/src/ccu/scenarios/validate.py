# SPDX-License-Identifier: Apache-2.0
"""The check that nr-link can play a scenario, on a carrier that the scenario allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ccu.scenarios import link_config, nr_link
from ccu.scenarios.library import locate
from ccu.scenarios.play import MM_WAVE_GHZ
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Experiment
from ddu.console.problems import Problem, RefusedError


def validate(scenario: str | Path, shown: Path | None = None) -> Experiment:
    """Check a scenario, a name or a file; return the experiment that it was checked with.

    Raises RefusedError with file, line, rule and fix. `shown`: the folder to name in messages
    instead of the file's own.
    """
    file = locate(str(scenario))
    try:
        radio = _radio_for(nr_link.scenario(file))
        experiment = resolve({"cc": "cubic", "scenario": str(scenario), **radio})
        link_config.check(experiment, file)
    except RefusedError as error:
        raise RefusedError(_shown(one, file.parent, shown) for one in error.problems) from None
    return experiment


def _radio_for(content: dict[str, Any]) -> dict[str, object]:
    """Return a carrier that the scenario allows, unless it names one or allows the default."""
    low = content.get("carrier_ghz", {}).get("min", 0.0)
    if "link" in content or low <= Experiment.model_fields["carrier_ghz"].default:
        return {}
    return {"carrier_ghz": low} | ({"numerology": 3, "prb": 264} if low >= MM_WAVE_GHZ else {})


def _shown(problem: Problem, folder: Path, shown: Path | None) -> Problem:
    where = problem.where
    if shown is None or where.file is None:
        return problem
    return problem.at(replace(where, file=str(shown / Path(where.file).relative_to(folder))))
