# SPDX-License-Identifier: Apache-2.0
"""The check that nr-link can play a scenario, on a carrier that the scenario allows."""

from __future__ import annotations

from pathlib import Path

from ccu.scenarios import link_config
from ccu.scenarios.play import MM_WAVE_GHZ, content
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Experiment


def validate(file: Path, shown: Path | None = None, seed: int | None = None) -> Experiment:
    """Check a scenario; return the experiment that it was checked with.

    Raises RefusedError with file, line, rule and fix. `shown`: the folder to name in messages
    instead of the file's own.
    """
    flags: dict[str, object] = {"cc": "cubic", "scenario": str(file)}
    radio = content(file).get("radio")
    limits = radio.get("carrier_ghz") if isinstance(radio, dict) else None
    experiment = resolve(flags)
    if isinstance(limits, dict) and "link" not in content(file):
        low = limits.get("min", experiment.carrier_ghz)
        if isinstance(low, (int, float)) and low >= MM_WAVE_GHZ:
            mm_wave = {"carrier_ghz": low, "numerology": 3, "prb": 264}
            experiment = experiment.model_copy(update=mm_wave)
        elif isinstance(low, (int, float)) and low > experiment.carrier_ghz:
            experiment = experiment.model_copy(update={"carrier_ghz": float(low)})
    link_config.check(link_config.link_config(experiment, "core", "ue"), file, seed, shown=shown)
    return experiment
