# SPDX-License-Identifier: Apache-2.0
"""The driver of the virtual testbed: nr-link in virtual time, in a kernel of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from ccu import congestion, scenarios
from ccu.congestion.reminis import parameters as reminis
from ccu.congestion.reminis.implementation import NAME as REMINIS
from ccu.host import programs
from ccu.host.findings import Finding, refused
from ccu.spec.experiment import Experiment
from ccu.spec.option import Option
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import Driver, WholeRun
from ccu.testbeds.virtual import plan
from ccu.testbeds.virtual.controls import KERNELS_OWN, brought, known
from testbed_console.problems import RefusedError, Where, refusal
from testbed_console.suggestions import unknown


class VirtualOptions(TestbedOptions):
    """What makes the traffic."""

    section: ClassVar[str] = "virtual"

    name: Literal["virtual"] = "virtual"
    traffic_program: Annotated[
        Literal["built-in", "iperf3"],
        Option(
            "Program that makes the traffic: built-in, or iperf3, as always in real time.",
        ),
    ] = "built-in"


class VirtualDriver(Driver):
    """Hosts of a User Mode Linux kernel, whose time waits for the computer."""

    summary = "nr-link in virtual time, with a Linux kernel of its own; needs no root"
    options = VirtualOptions
    needs = ("nr-link",)
    needs_root = False
    preference = 2
    own_kernel = True
    repeatable = True
    undisturbed = True
    machine_files = frozenset({"virtual.json"})  # CPU and wall-clock time

    def check(self, experiment: Experiment, scenario: Path) -> None:
        """Ask nr-link whether it would run with this, to its end."""
        from ccu.scenarios import link_config

        self.carries(experiment)
        _check_parameters_and_files(experiment)
        scenarios.check_time(scenario, experiment.duration_s)
        config = link_config.link_config(experiment, "server", "ue")
        link_config.check(config, scenario, scenarios.seed_of(experiment.scenario))

    def carries(self, experiment: Experiment) -> None:
        """Refuse congestion controls that its kernel does not have, and files with a name of its
        own."""
        for name in experiment.servers_ccs:
            if name in KERNELS_OWN and (file := experiment.cc_files.get(name)):
                rule = f"the kernel in virtual time has a congestion control {name} already"
                raise refusal(rule, "give the file another name", file=file)
            if name not in known() | set(experiment.cc_files):
                where = Where(key="cc")
                raise RefusedError(
                    unknown("congestion control", name, known(), "in virtual time", where=where)
                )

    def check_machine(self, experiment: Experiment) -> None:
        """Ask whether the kernel is built and can run here, and for iperf3 where it is wanted."""
        _kernel()
        if plan.by_iperf3(experiment):
            programs.require("iperf3")

    def examine(self, experiment: Experiment) -> list[Finding]:  # noqa: ARG002
        """Return whether the kernel is built and can run here."""
        try:
            return [Finding("kernel in virtual time", True, _kernel())]
        except RefusedError as error:
            return refused("kernel in virtual time", error)

    def expected_s(self, experiment: Experiment) -> float:
        from ccu.testbeds.virtual import speed

        return speed.expected_s(experiment)

    def whole_run(self) -> WholeRun:
        from ccu.testbeds.virtual import testbed

        return testbed.perform


def _kernel() -> str:
    """Return the path of the kernel, which can run here. Raises RefusedError."""
    command = [programs.require("nr-link"), "virtual", "doctor"]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode == 0:
        return said.stdout.strip()
    rule, _, fix = said.stderr.strip().removeprefix("nr-link: error: ").partition(". ")
    raise refusal(rule, fix.removesuffix("."))


def _check_parameters_and_files(experiment: Experiment) -> None:
    by_file = brought(experiment)
    takers = {
        name: by_file[name].provider.takes_parameters if name in by_file else name == REMINIS
        for name in experiment.servers_ccs
    }
    congestion.check_parameters_are_taken(experiment, takers)
    for name in experiment.servers_ccs:
        parameters = experiment.cc_params_of(name) if takers[name] else {}
        if name in by_file:
            by_file[name].check(parameters, virtual=True)
        elif name == REMINIS:
            reminis.check(parameters)


VIRTUAL = VirtualDriver()
