# SPDX-License-Identifier: Apache-2.0
"""A testbed that stays up between commands, for working by hand."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccu import scenarios
from ccu.host import leftovers, testbed_logs
from ccu.host.leftovers import Belongings
from ccu.host.supervisor import Supervisor
from ccu.spec.errors import Refused
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site
from ccu.testbeds.oai import testbed as oai
from ccu.testbeds.oai.services import CORE, DATA_NETWORK
from ccu.testbeds.oai.stack import UE_INTERFACE, Stack, interface_address


def up(experiment: Experiment) -> Belongings:
    """Brings the containers up and leaves them; their logs are in the returned one's directory.

    Raises Refused or RunFailed; then nothing stays.
    """
    if leftovers.kept():
        raise Refused("a testbed is up already; see `ccu testbed status`, end it: ccu testbed down")
    scenario = scenarios.locate(experiment.scenario)
    oai.check(experiment, scenario)
    run_id = secrets.token_hex(3)
    testbed_logs.remove(testbed_logs.MOST_KEPT)
    directory = testbed_logs.FOLDER / run_id
    with _site(experiment, directory, run_id) as site:
        (directory / "raw" / "logs").mkdir(parents=True)
        (directory / "experiment.json").write_text(experiment.model_dump_json())
        stack = oai.prepare(site)
        try:
            stack.up()
        except BaseException:
            stack.down()
            leftovers.remove(site.belongings)
            raise
        stack.let_be()
        site.belongings.kept = True
        site.belongings.save()
        return site.belongings


def status() -> list[tuple[str, str]]:
    """For each part what it does now. Raises Refused if nothing is up."""
    belongings, stack = _found()
    rows = [("logs", f"{belongings.run_directory}/raw/oai")]
    plan = stack.plan
    ues = [plan.ue_service(number) for number in range(1, plan.ue_count + 1)]
    for service in (*CORE, DATA_NETWORK, plan.gnb_service, *ues):
        pid = stack.runtime.pid(service)
        said = f"runs (pid {pid})" if pid else "does not run"
        name = f"ccu-{belongings.run_id}-{service}"
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
    for belongings in leftovers.kept():
        done += leftovers.remove(belongings)
        done.append(f"its logs are kept in {belongings.run_directory}/raw/oai (ccu clean)")
    return done


def _found() -> tuple[Belongings, Stack]:
    kept = leftovers.kept()
    if not kept:
        raise Refused("no testbed is up; bring one up: ccu testbed up rfsim")
    belongings = kept[0]
    directory = Path(belongings.run_directory)
    content = json.loads((directory / "experiment.json").read_text())
    experiment = Experiment.model_validate(content)
    stack = oai.stack_of(experiment, directory / "raw" / "oai", belongings)
    return belongings, stack


@contextmanager
def _site(experiment: Experiment, directory: Path, run_id: str) -> Iterator[Site]:
    belongings = leftovers.of_this_process(run_id, directory)
    supervisor = Supervisor(belongings, directory / "raw" / "logs")
    scenario = scenarios.locate(experiment.scenario)
    try:
        yield Site(experiment, scenario, directory / "raw", supervisor, belongings)
    finally:
        supervisor.stop_all()
