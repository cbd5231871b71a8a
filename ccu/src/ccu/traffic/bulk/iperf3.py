# SPDX-License-Identifier: Apache-2.0
"""The commands of iperf3 for a flow, and what its reports say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ccu.host import programs
from ccu.traffic import Command, End, read_report
from ccu.traffic.flow import Flow, FlowHosts

PROGRAM = "iperf3"
_ROLES: dict[End, str] = {"receiver": "server", "sender": "client"}


def commands(flow: Flow, hosts: FlowHosts, sent: Sequence[str]) -> dict[End, Command]:
    """Return the server, which receives one connection, and the client; `sent`: the client's words
    for what it sends."""
    program = programs.require(PROGRAM)
    target, source = flow.target(hosts), flow.sender(hosts)
    server = [program, "-s", "-1", "-J", "-B", target.address, "-p", str(target.port)]
    client = [program, "-c", target.address, "-p", str(target.port), "-J"]
    client += ["-B", source.address, "--cport", str(source.port), *sent]
    return {
        "receiver": _command(flow, "receiver", server),
        "sender": _command(flow, "sender", client),
    }


def report(raw: Path, flow: Flow, end: End) -> dict[str, Any]:
    """Return the report of one end. Raises RunFailed if it is incomplete or reports an error."""
    name = _name(flow, end)
    return read_report(raw / f"{name}.json", name)


def _command(flow: Flow, end: End, arguments: list[str]) -> Command:
    name = _name(flow, end)
    return Command(name, arguments, f"{name}.json")


def _name(flow: Flow, end: End) -> str:
    return f"iperf3-{flow.id}-{_ROLES[end]}"
