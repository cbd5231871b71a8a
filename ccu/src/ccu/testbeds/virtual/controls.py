# SPDX-License-Identifier: Apache-2.0
"""The congestion controls of the kernel in virtual time, and those that a run brings to it."""

from __future__ import annotations

from ccu import congestion
from ccu.congestion import OfFile
from ccu.congestion.reminis.implementation import NAME as REMINIS
from ccu.spec.experiment import Experiment

# nr-link/virtual/kernel.config, besides Reno, which every kernel has.
KERNELS_OWN = (
    *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv"),
    *("reno", "scalable", "vegas", "veno", "westwood", "yeah", REMINIS),
)


def brought(experiment: Experiment) -> dict[str, OfFile]:
    """Return those that files become. Raises RefusedError."""
    return congestion.brought(experiment, KERNELS_OWN)


def known() -> set[str]:
    """Return all that can be named without a file."""
    return {*KERNELS_OWN, *congestion.named_files()}
