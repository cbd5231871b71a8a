# SPDX-License-Identifier: Apache-2.0
"""Whether this machine's cores suffice for the modems that take turns in lockstep."""

from __future__ import annotations

import os

from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

UES_A_CORE = 2
"""Chosen: the fewer cores there are, the longer takes a run, as all modems take turns on them."""


def usable() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def check(experiment: Experiment) -> None:
    """Raise RefusedError for more UEs than the usable cores carry."""
    cores = usable()
    most = UES_A_CORE * cores
    if experiment.ues > most:
        raise refusal(
            f"{experiment.ues} UEs in lockstep need {-(-experiment.ues // UES_A_CORE)} cores, and"
            f" ccu may use {cores}",
            f"choose at most {most} UEs, or write --no-lockstep",
            key="ues",
        )
