# SPDX-License-Identifier: Apache-2.0
"""A short run that measures how fast the radio's time passes on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ccu import traffic
from ccu.runs.run import run
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.traffic import TrafficOptions
from ccu.testbeds import driver_of

DURATION_S = 10.0


def radio_time_factor(experiment: Experiment) -> float | None:
    """Return the seconds of radio time per second of a run of 10 s; None if it was not measured.

    Return 1 where the radio keeps real time. Raises RefusedError, RunFailed or Interrupted.
    """
    driver = driver_of(experiment)
    if not driver.radio_time_varies(experiment):
        return 1.0
    short = _short(experiment)
    with tempfile.TemporaryDirectory(prefix="ccu-trial-") as folder:
        try:
            return driver.radio_time_factor(run(short, Path(folder), lambda _stage, _share: None))
        except RunFailed as error:
            error.directory = None  # It is gone when somebody reads of it.
            raise


def _short(experiment: Experiment) -> Experiment:
    """Return the experiment with all of its load at once, as its later flows would start and its
    changes come when the trial is over."""
    flows = tuple(
        one.model_copy(update={"start_s": 0.0, "traffic": one.traffic and _lasting(one.traffic)})
        for one in experiment.flows
    )
    # What a program of the user's sends is counted in the captures.
    counted = any(one.file for one in traffic.of_experiment(experiment))
    update = {"duration_s": DURATION_S, "capture": counted and experiment.capture, "flows": flows}
    update |= {"changes": (), "traffic": _lasting(experiment.traffic)}
    return experiment.model_copy(update=update)


def _lasting(sent: TrafficOptions) -> TrafficOptions:
    """Return traffic that lasts as long as the run, whatever its volume was."""
    return sent if sent.most_bytes is None else sent.model_copy(update={"volume_bytes": None})
