# SPDX-License-Identifier: Apache-2.0
"""The congestion controls in virtual time: those of its kernel, and files that are put into it."""

from __future__ import annotations

from ccu import congestion
from ccu.congestion.reminis.implementation import NAME as REMINIS
from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

# In the kernel (nr-link/virtual/kernel.config), besides Reno, which every kernel has.
OF_THE_KERNEL = frozenset(
    (
        *(
            "bbr",
            "bic",
            "cdg",
            "cubic",
            "dctcp",
            "highspeed",
            "htcp",
            "hybla",
            "illinois",
            "lp",
            "nv",
        ),
        *("reno", "scalable", "vegas", "veno", "westwood", "yeah", REMINIS),
    )
)


def of_files(experiment: Experiment) -> dict[str, congestion.OfFile]:
    """Return what the kernel has not and files provide, by name. Raises RefusedError."""
    return congestion.of_files(experiment, OF_THE_KERNEL)


def check(experiment: Experiment) -> None:
    """Refuse congestion controls that are not there, and files with a name of the kernel's own."""
    for name, file in experiment.cc_files.items():
        if name in OF_THE_KERNEL:
            rule = f"the kernel in virtual time has a congestion control {name} already"
            raise refusal(rule, "give the file another name", file=file)
    there = {*OF_THE_KERNEL, *experiment.cc_files, *congestion.by_name()}
    for name in experiment.servers_ccs:
        if name not in there:
            raise congestion.not_there(name, there, "in virtual time")
