# SPDX-License-Identifier: Apache-2.0
"""The driver of the virtual testbed: nr-link in virtual time, in a kernel of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from ccu import traffic
from ccu.host.findings import Finding
from ccu.spec.experiment import Experiment
from ccu.spec.option import Option
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import Driver, Outcome, Site, WholeRun
from ccu.testbeds.virtual_time import checks, controls, kernel
from ccu.testbeds.virtual_time.plan import BUILT_IN
from ccu.traffic.flow import Flow
from ddu.console.problems import InvalidValue
from ddu.console.suggestions import unknown


def _a_traffic_program(written: str) -> str:
    known = (BUILT_IN, *traffic.every_program())
    if written not in known:
        raise InvalidValue(unknown("traffic program", written, known))
    return written


class VirtualOptions(TestbedOptions):
    """The program that makes the traffic."""

    section: ClassVar[str] = "virtual"
    changes: ClassVar[bool] = True

    name: Literal["virtual"] = "virtual"
    traffic_program: Annotated[
        str,
        AfterValidator(_a_traffic_program),
        Option("Program that makes the traffic: built-in, or that of real time, by its name."),
    ] = BUILT_IN


class VirtualDriver(Driver):
    """Hosts of a User Mode Linux kernel, whose time waits for the computer."""

    summary = "nr-link in virtual time, with a Linux kernel of its own; needs no root"
    options = VirtualOptions
    needs = ("nr-link",)
    needs_root = False
    preference = 2
    own_kernel = True
    runs_programs = True
    repeatable = True
    undisturbed = True
    # CPU and wall-clock time; where programs are installed.
    machine_files = frozenset({"virtual.json", "virtual-plan.json"})

    def check(self, experiment: Experiment, scenario: Path) -> None:
        """Ask nr-link whether it would run this completely."""
        checks.check(experiment, scenario)

    def carries(self, experiment: Experiment) -> None:
        """Refuse congestion controls that its kernel does not have, and files with a name of its
        own."""
        controls.check(experiment)

    def own_controls(self) -> frozenset[str]:
        return kernel.congestion_controls()

    def notice(self, experiments: Sequence[Experiment]) -> str:
        """Return nr-link's warnings."""
        from ccu.scenarios import link_config

        return link_config.notice(experiments)

    def check_machine(self, experiment: Experiment) -> None:
        """Ask whether the kernel is built and can run here, and for the programs of the traffic."""
        checks.check_machine(experiment)

    def examine(self, experiment: Experiment) -> list[Finding]:  # noqa: ARG002
        """Return whether the kernel is built and can run here."""
        return checks.examine()

    def software(self) -> dict[str, str]:
        return checks.software()

    def expected_s(self, experiment: Experiment) -> float:
        from ccu.testbeds.virtual import speed

        return speed.expected_s(experiment)

    def whole_run(self) -> WholeRun:
        return _perform


def _perform(site: Site, flows: Sequence[Flow]) -> Outcome:
    """Run the experiment. Raises RunFailed, or Interrupted."""
    from ccu.testbeds.mac_csv import delivered_bytes
    from ccu.testbeds.virtual_time.run import Run

    run = Run(site, flows)
    run.prepare()
    run.perform()
    return run.outcome(lambda direction: delivered_bytes(site.raw / "mac.csv", direction))


VIRTUAL = VirtualDriver()
