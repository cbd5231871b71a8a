# SPDX-License-Identifier: Apache-2.0
"""The channel and capacity that nr-link's model computes for a scenario, without traffic."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccu.scenarios import link_config, nr_link
from ccu.scenarios.library import locate
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Experiment

if TYPE_CHECKING:
    import pandas as pd  # imported late: it takes half a second, and most commands do not need it

MM_WAVE_GHZ = 24.25
"""The lower limit of frequency range 2 (TS 38.101-2 clause 5.2), of carriers with 120 kHz."""
DEFAULT_S = 100.0


def experiment(scenario: str, flags: dict[str, Any]) -> Experiment:
    """Return an experiment that plays `scenario`; only its link and its seed are used."""
    return resolve({"cc": "cubic", **flags, "scenario": scenario})


def play(planned: Experiment, seconds: float | None = None, interval_ms: int = 100) -> pd.DataFrame:
    """Return a row per `interval_ms` with the columns of `nr-link capacity`; t_s is the row's
    start.

    `seconds`: None means the scenario's duration, at most 100 s. Raises RefusedError.
    """
    text = played(planned, seconds, interval_ms)
    import pandas as pd

    return pd.read_csv(io.StringIO(text))


def played(planned: Experiment, seconds: float | None, interval_ms: int) -> str:
    """Return the CSV text of `nr-link capacity`, for callers that do not need pandas."""
    file = locate(planned.scenario, planned.seed)
    if seconds is None:
        seconds = min(duration_s(file), DEFAULT_S)
    return link_config.capacity(planned, file, seconds, interval_ms)


def duration_s(file: Path) -> float:
    """Return the scenario's duration in seconds. Raises RefusedError."""
    return float(nr_link.scenario(file)["duration_s"])
