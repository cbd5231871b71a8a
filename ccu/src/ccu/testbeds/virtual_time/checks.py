# SPDX-License-Identifier: Apache-2.0
"""Whether hosts in virtual time can perform an experiment, here and at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ccu import congestion, scenarios, traffic
from ccu.congestion.reminis import parameters as reminis
from ccu.congestion.reminis.implementation import NAME as REMINIS
from ccu.host import programs
from ccu.host.digest import sha256_of
from ccu.host.findings import Finding, refused
from ccu.spec.experiment import Experiment
from ccu.testbeds.virtual_time import controls, plan
from ddu.console.problems import RefusedError, refusal


def check(experiment: Experiment, scenario: Path) -> None:
    """Ask nr-link whether it would run this completely."""
    from ccu.scenarios import link_config

    controls.check(experiment)
    _check_parameters_and_files(experiment)
    scenarios.check_time(scenario, experiment.duration_s)
    link_config.check(experiment, scenario)


def check_machine(experiment: Experiment) -> None:
    """Ask whether the kernel is built and can run here, and for the programs of the traffic."""
    _kernel()
    for kind in map(traffic.driver_of, traffic.of_experiment(experiment)):
        if not plan.is_built_in(experiment, kind):
            for name in kind.needs:
                programs.require(name)


def examine() -> list[Finding]:
    """Return whether the kernel is built and can run here."""
    try:
        return [Finding("kernel in virtual time", True, _kernel())]
    except RefusedError as error:
        return refused("kernel in virtual time", error)


def software() -> dict[str, str]:
    """Return the release of the kernel in virtual time, and its digest: it has the TCP of a run."""
    kernel = _kernel()
    release = subprocess.run([kernel, "--version"], capture_output=True, text=True, check=True)
    digest = sha256_of(Path(kernel))[:16]
    return {"virtual-kernel": f"{release.stdout.strip()}, SHA-256 {digest}"}


def _kernel() -> str:
    """Return the path of the kernel, which can run here. Raises RefusedError."""
    command = [programs.require("nr-link"), "virtual", "doctor"]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode == 0:
        return said.stdout.strip()
    rule, _, fix = said.stderr.strip().removeprefix("nr-link: error: ").partition(". ")
    raise refusal(rule, fix.removesuffix("."))


def _check_parameters_and_files(experiment: Experiment) -> None:
    by_file = controls.of_files(experiment)
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
