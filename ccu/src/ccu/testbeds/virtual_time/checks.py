# SPDX-License-Identifier: Apache-2.0
"""Whether hosts in virtual time can perform an experiment, here and at all."""

from __future__ import annotations

from pathlib import Path

from ccu import scenarios, traffic
from ccu.host import programs
from ccu.host.findings import Finding, refused
from ccu.spec.experiment import Experiment
from ccu.testbeds.virtual_time import controls, kernel, plan
from ddu.console.problems import RefusedError
from ddu.run.integrity import sha256_of


def check(experiment: Experiment, scenario: Path) -> None:
    """Ask nr-link whether it would run this completely."""
    from ccu.scenarios import link_config

    controls.check(experiment)
    controls.check_parameters(experiment)
    scenarios.check_time(scenario, experiment.duration_s)
    link_config.check(experiment, scenario)


def check_machine(experiment: Experiment) -> None:
    """Ask whether the kernel is built and can run here, and for the programs of the traffic."""
    kernel.examine()
    for kind in map(traffic.driver_of, traffic.of_experiment(experiment)):
        if not plan.is_built_in(experiment, kind):
            for name in kind.needs:
                programs.require(name)


def examine() -> list[Finding]:
    """Return whether the kernel is built and can run here."""
    try:
        return [Finding("kernel in virtual time", True, kernel.examine().path)]
    except RefusedError as error:
        return refused("kernel in virtual time", error)


def software() -> dict[str, str]:
    """Return the release of the kernel in virtual time, and its digest: it has the TCP of a run."""
    path = kernel.examine().path
    digest = sha256_of(Path(path))[:16]
    return {"virtual-kernel": f"{kernel.release(path)}, SHA-256 {digest}"}
