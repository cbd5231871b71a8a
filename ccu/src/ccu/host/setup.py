# SPDX-License-Identifier: Apache-2.0
"""The run that a congestion-control provider or a traffic kind serves."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.spec.experiment import Experiment


class Setup(Protocol):
    """The run that is served; a testbed's `Site` is one."""

    @property
    def experiment(self) -> Experiment: ...
    @property
    def raw(self) -> Path:
        """The run's folder for raw data."""
        ...

    @property
    def supervisor(self) -> Supervisor: ...
    @property
    def resources(self) -> Resources: ...

    def as_of(self, name: str) -> Setup:
        """Return the run with the experiment as it is when a congestion control is first used."""
        ...
