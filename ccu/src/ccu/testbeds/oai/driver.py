# SPDX-License-Identifier: Apache-2.0
"""The drivers of OpenAirInterface's testbeds, rfsim and usrp."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ccu.host.findings import Finding
from ccu.spec.experiment import Experiment
from ccu.testbeds import Driver, ManualTestbed, Site, Testbed
from ccu.testbeds.oai.options import ALONE, OaiOptions


class OaiDriver(Driver):
    """The driver of OpenAirInterface in containers."""

    options = OaiOptions
    runs_programs = True
    alone = ALONE
    panel = "Options of the testbeds rfsim and usrp (docs/oai.md)"

    def __init__(self, summary: str, preferred: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.summary = summary
        self.preferred = preferred

    def variant(self, experiment: Experiment) -> Driver:
        from ccu.testbeds.oai.lockstep.driver import LOCKSTEP
        from ccu.testbeds.oai.options import oai_options

        return LOCKSTEP if oai_options(experiment).lockstep else self

    def check(self, experiment: Experiment, scenario: Path) -> None:  # noqa: ARG002
        from ccu.testbeds.oai import plans

        plans.check(experiment)

    def check_machine(self, experiment: Experiment) -> None:
        from ccu.testbeds.oai import testbed

        testbed.check_machine(experiment)

    def up(self, site: Site) -> AbstractContextManager[Testbed]:
        from ccu.testbeds.oai import testbed

        return testbed.up(site)

    def examine(self, experiment: Experiment) -> list[Finding]:
        from ccu.testbeds.oai import doctor

        return doctor.examine(experiment)

    def radio_time_varies(self, experiment: Experiment) -> bool:
        from ccu.testbeds.oai.options import oai_options

        return oai_options(experiment).usrp is None

    def radio_time_factor(self, run: Path) -> float | None:
        from ccu.testbeds.oai import radio_clock

        return radio_clock.recorded_factor(run / "raw" / "oai" / "radio-time.csv")

    def manual(self) -> ManualTestbed:
        from ccu.testbeds.oai import manual

        return manual


RFSIM = OaiDriver(
    "OpenAirInterface's core, gNB and UE in containers, radio in software", {"lockstep": True}
)
USRP = OaiDriver("the same over two USRPs (--usrp b210 or x310:addr=A+addr=B)")
