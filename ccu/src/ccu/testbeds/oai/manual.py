# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface started manually: containers that stay up between commands."""

from __future__ import annotations

from ccu.testbeds import Site
from ccu.testbeds.oai import testbed
from ccu.testbeds.oai.services import core_of, server_of
from ccu.testbeds.oai.stack import UE_INTERFACE, Stack, interface_address
from ddu.console.problems import refusal


def up(site: Site) -> list[str]:
    """Start the containers and leave them up; return sentences on what that needed."""
    stack = testbed.prepare(site)
    try:
        stack.up()
    except BaseException:
        stack.down()
        raise
    stack.stop_following()
    return stack.notes


def status(site: Site) -> list[tuple[str, str]]:
    """Return for each container whether it runs, and the UEs' addresses."""
    stack = _stack(site)
    plan, rows = stack.plan, []
    ues = list(map(plan.ue_service, plan.ue_numbers))
    server = server_of(plan).service
    for service in dict.fromkeys((*core_of(plan), server, plan.gnb_service, *ues)):
        pid = stack.runtime.pid(service)
        state = f"runs (pid {pid})" if pid else "does not run"
        if pid and service in ues:
            name = f"ccu-{site.resources.run_id}-{service}"
            address = interface_address(name, UE_INTERFACE)
            state += f", {UE_INTERFACE} {address}" if address else f", no {UE_INTERFACE}"
        rows.append((service, state))
    return rows


def shell_command(site: Site, part: str) -> list[str]:
    """Return the command that opens a shell in a container. Raises RefusedError."""
    stack = _stack(site)
    service = {"server": server_of(stack.plan).service, "ue": "ue1"}.get(part, part)
    if stack.plan.usrp and service in ("gnb", "ue1"):
        service = f"{service}-{stack.plan.usrp.model}"
    if stack.runtime.pid(service) is None:
        running = ", ".join(name for name, state in status(site) if state.startswith("runs"))
        raise refusal(f"shell: {service} does not run", f"there are {running}")
    return stack.runtime.shell_command(service)


def _stack(site: Site) -> Stack:
    return testbed.stack_of(site.experiment, site.raw / "oai", site.resources)
