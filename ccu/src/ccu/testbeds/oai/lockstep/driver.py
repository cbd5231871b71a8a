# SPDX-License-Identifier: Apache-2.0
"""The driver of rfsim in lockstep: OpenAirInterface's radio, and hosts in virtual time."""

from __future__ import annotations

from pathlib import Path

from ccu.spec.experiment import Experiment
from ccu.testbeds import Driver, WholeRun
from ccu.testbeds.oai.options import ALONE, OaiOptions
from ccu.testbeds.virtual_time import checks, controls

# Measured on two cores; wider carriers take longer, quicker machines less.
_WALL_S_A_SECOND_AND_MODEM = 2.0
_START_S = 30.0


class LockstepDriver(Driver):
    """The hosts' time stands still while the radio runs a slot."""

    summary = "rfsim slot by slot, with hosts in virtual time"
    options = OaiOptions
    needs = ("nr-link", "ip")
    own_kernel = True
    alone = ALONE
    runs_programs = True

    def check(self, experiment: Experiment, scenario: Path) -> None:
        from ccu.testbeds.oai import plans

        checks.check(experiment, scenario)
        plans.check(experiment)

    def carries(self, experiment: Experiment) -> None:
        controls.check(experiment)

    def check_machine(self, experiment: Experiment) -> None:
        from ccu.testbeds.oai import testbed
        from ccu.testbeds.oai.lockstep import cores

        cores.check(experiment)
        checks.check_machine(experiment)
        testbed.check_machine(experiment)

    def software(self) -> dict[str, str]:
        return checks.software()

    def expected_s(self, experiment: Experiment) -> float:
        modems = 1 + experiment.ues
        return _START_S + experiment.duration_s * modems * _WALL_S_A_SECOND_AND_MODEM

    def whole_run(self) -> WholeRun:
        from ccu.testbeds.oai.lockstep import run

        return run.perform


LOCKSTEP = LockstepDriver()
