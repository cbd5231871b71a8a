# SPDX-License-Identifier: Apache-2.0
"""The congestion controls in virtual time: those of its kernel, and files that are put into it."""

from __future__ import annotations

from collections.abc import Mapping

from ccu import congestion
from ccu.spec.experiment import Experiment
from ccu.testbeds.virtual_time import kernel
from ddu.console.problems import refusal


def provided(experiment: Experiment) -> Mapping[str, congestion.Provided]:
    """Return every congestion control there, with the experiment's files. Raises RefusedError."""
    return congestion.in_virtual_time(experiment, kernel.congestion_controls())


def check(experiment: Experiment) -> None:
    """Refuse congestion controls that are not there, and files with a name of the kernel's own.

    Without the kernel, all are accepted: `check_machine` says what it lacks.
    """
    own = kernel.congestion_controls()
    for name, file in experiment.cc_files.items():
        if name in own:
            rule = f"the kernel in virtual time has a congestion control {name} already"
            raise refusal(rule, "give the file another name", file=file)
    if not own:
        return
    there = provided(experiment)
    for name in experiment.servers_ccs:
        if name not in there:
            key = experiment.key_of_cc(name)
            raise congestion.not_there(name, there, "in virtual time", key)


def check_parameters(experiment: Experiment) -> None:
    """Refuse files and parameters that are not valid, as far as their providers are known."""
    there = provided(experiment)
    if all(name in there for name in experiment.servers_ccs):
        congestion.check_provided(experiment, there, virtual=True)
