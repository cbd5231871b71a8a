# SPDX-License-Identifier: Apache-2.0
"""The driver of the emulated testbed: nr-link in real time between two namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Literal

from ccu import scenarios
from ccu.spec.experiment import Experiment
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import Driver, Site, Testbed


class EmulatedOptions(TestbedOptions):
    """None of its own: the experiment's fields are all that the link is made of."""

    changes: ClassVar[bool] = True

    name: Literal["emulated"] = "emulated"


class EmulatedDriver(Driver):
    """Two hosts on this machine, with nr-link between them."""

    summary = "nr-link between two network namespaces of this machine"
    options = EmulatedOptions
    preference = 1
    runs_programs = True

    def check(self, experiment: Experiment, scenario: Path) -> None:
        """Ask nr-link whether it would run this completely."""
        from ccu.scenarios import link_config

        scenarios.check_time(scenario, experiment.duration_s)
        link_config.check(experiment, scenario)

    def notice(self, experiments: Sequence[Experiment]) -> str:
        """Return nr-link's warnings."""
        from ccu.scenarios import link_config

        return link_config.notice(experiments)

    def up(self, site: Site) -> AbstractContextManager[Testbed]:
        from ccu.testbeds.emulated import testbed

        return testbed.up(site)


EMULATED = EmulatedDriver()
