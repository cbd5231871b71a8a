# SPDX-License-Identifier: Apache-2.0
"""A testbed that stays up between commands, for working by hand."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from ccu import scenarios
from ccu.host import resources, testbed_logs
from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.host.testbed_logs import LogDirectory
from ccu.spec.errors import Refused
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site
from ccu.testbeds.oai import testbed as oai
from ccu.testbeds.oai.services import CORE, DATA_NETWORK
from ccu.testbeds.oai.stack import UE_INTERFACE, Stack, interface_address


def up(experiment: Experiment) -> None:
    """Brings the containers up and leaves them.

    Raises Refused or RunFailed; then nothing stays but the logs of a failure.
    """
    _refuse_a_second()
    scenario = scenarios.locate(experiment.scenario)
    oai.check(experiment, scenario)
    testbed_logs.remove(testbed_logs.MOST_KEPT)
    owned, logs = _begin()
    directory = Path(logs.directory)
    supervisor = Supervisor(owned, directory / "raw" / "logs")
    site = Site(experiment, scenario, directory / "raw", supervisor, owned)
    try:
        logs.make()
        (directory / "experiment.json").write_text(experiment.model_dump_json())
        _start(oai.prepare(site))
        owned.keep()
    except BaseException:
        owned.remove()
        raise
    finally:
        supervisor.stop_all()


def _refuse_a_second() -> None:
    if any(one.of(LogDirectory) for one in resources.everybodys() if not one.abandoned):
        raise Refused("a testbed is up already; see `ccu testbed status`, end it: ccu testbed down")


def _begin() -> tuple[Resources, LogDirectory]:
    """Register the testbed, if no other `ccu testbed up` has since the first look."""
    with resources.locked(resources.FOLDER):
        _refuse_a_second()
        owned = resources.of_this_process(secrets.token_hex(3))
        logs = LogDirectory(str(testbed_logs.FOLDER / owned.run_id))
        owned.register(logs)
    return owned, logs


def _start(stack: Stack) -> None:
    try:
        stack.up()
    except BaseException:
        stack.down()
        raise
    stack.let_be()


def status() -> list[tuple[str, str]]:
    """For each part what it does now. Raises Refused if nothing is up."""
    owned, stack = _found()
    rows = [("logs", f"{_directory(owned)}/raw/oai")]
    plan = stack.plan
    ues = [plan.ue_service(number) for number in range(1, plan.ue_count + 1)]
    for service in (*CORE, DATA_NETWORK, plan.gnb_service, *ues):
        pid = stack.runtime.pid(service)
        said = f"runs (pid {pid})" if pid else "does not run"
        name = f"ccu-{owned.run_id}-{service}"
        if pid and service in ues:
            address = interface_address(name, UE_INTERFACE)
            said += f", {UE_INTERFACE} {address}" if address else f", no {UE_INTERFACE}"
        rows.append((service, said))
    return rows


def shell_command(service: str) -> list[str]:
    """The command that opens a shell in a container of the testbed. Raises Refused."""
    _, stack = _found()
    service = {"server": DATA_NETWORK, "ue": "ue1"}.get(service, service)
    if stack.plan.usrp and service in ("gnb", "ue1"):
        service = f"{service}-{stack.plan.usrp.model}"
    if stack.runtime.pid(service) is None:
        running = ", ".join(name for name, said in status() if said.startswith("runs"))
        raise Refused(f"shell: {service} does not run; there are {running}")
    return stack.runtime.shell_command(service)


def down() -> list[str]:
    """Removes every testbed brought up by hand but for its logs; sentences that say what."""
    done = []
    with resources.locked(resources.FOLDER):
        for owned in resources.kept():
            logs = owned.of(LogDirectory)
            done += owned.remove()
            done += [f"its logs are kept in {one.directory}/raw/oai (ccu clean)" for one in logs]
    return done + resources.unreadable()


def _found() -> tuple[Resources, Stack]:
    kept = resources.kept()
    if not kept:
        raise Refused("no testbed is up; bring one up: ccu testbed up rfsim")
    directory = _directory(kept[0])
    content = json.loads((directory / "experiment.json").read_text())
    experiment = Experiment.model_validate(content)
    stack = oai.stack_of(experiment, directory / "raw" / "oai", kept[0])
    return kept[0], stack


def _directory(owned: Resources) -> Path:
    return Path(owned.of(LogDirectory)[0].directory)
