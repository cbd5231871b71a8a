# SPDX-License-Identifier: Apache-2.0
"""What nr-link makes of a scenario, without traffic and without a clock: its own model, asked."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ccu.host import programs
from ccu.scenarios import link_config
from ccu.scenarios.library import locate, seed_of
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import Refused
from ccu.spec.experiment import Experiment

if TYPE_CHECKING:
    import pandas as pd  # imported late: it takes half a second, and most commands do without

MM_WAVE_GHZ = 24.25
"""Where frequency range 2 begins (TS 38.101-2 clause 5.2); below, there are no 120 kHz carriers."""
DEFAULT_S = 100.0


def experiment(scenario: str, flags: dict[str, Any]) -> Experiment:
    """An experiment that plays `scenario`; nothing of it but the link and the seed is looked at."""
    return resolve({"cc": "cubic", **flags, "scenario": scenario})


def play(planned: Experiment, seconds: float | None = None, interval_ms: int = 100) -> pd.DataFrame:
    """One row each `interval_ms`, with the columns of `nr-link capacity`; t_s is the row's start.

    `seconds`: None for the scenario's duration, at most 100 s. Raises Refused.
    """
    text = played(planned, seconds, interval_ms)
    import pandas as pd

    return pd.read_csv(io.StringIO(text))


def played(planned: Experiment, seconds: float | None = None, interval_ms: int = 100) -> str:
    """The same as `nr-link capacity` prints it, CSV, for those who can do without pandas."""
    file = locate(planned.scenario)
    if seconds is None:
        seconds = min(duration_s(file), DEFAULT_S)
    config = link_config.link_config(planned, "core", "ue")
    with tempfile.TemporaryDirectory(prefix="ccu-") as folder:
        link_config.write_config(config, Path(folder, "link.yaml"))
        link_config.copy_scenario(file, Path(folder), seed_of(planned.scenario))
        said = subprocess.run(
            [
                *(programs.require("nr-link"), "capacity", "--config", f"{folder}/link.yaml"),
                *(f"--seconds={seconds!r}", "--interval-ms", str(interval_ms)),
            ],
            capture_output=True,
            text=True,
        )
        if said.returncode != 0:
            raise Refused(link_config.in_the_users_words(said.stderr, folder, file))
    return said.stdout


def content(file: Path) -> dict[str, Any]:
    """The scenario as its author wrote it, unchecked. Raises Refused if it is no YAML mapping."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = yaml.load(file.read_bytes(), Loader=loader)
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise Refused(f"{file}: cannot be read as YAML ({error}); mend it") from None
    if not isinstance(found, dict):
        raise Refused(f"{file}: is no scenario; docs/scenarios.md shows the form")
    return found


def duration_s(file: Path) -> float:
    """How long the scenario is. Raises Refused."""
    try:
        return float(str(content(file).get("duration_s")))
    except ValueError:
        raise Refused(f"{file}: duration_s is no number; write seconds") from None
