# SPDX-License-Identifier: Apache-2.0
"""The plan of `nr-link virtual run` (docs/virtual-time.md) for an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ccu.congestion import InVirtualTime
from ccu.host import programs
from ccu.scenarios.link_config import ue_address
from ccu.spec.experiment import Experiment
from ccu.spec.socket_buffers import socket_buffer_sysctls
from ccu.testbeds import Host
from ccu.traffic import Command, TrafficDriver, driver_of
from ccu.traffic.flow import Flow

FILE = "virtual-plan.json"
TESTBED = "virtual"
"""The testbed that carries out plans with a link of nr-link's own model."""
SERVER_ADDRESS = "10.45.0.1"
BUILT_IN = "built-in"
"""The traffic program of nr-link, which kinds of traffic may use (`TrafficDriver.built_in`)."""
_LISTENING_S = 0.1
_RAW = Path()  # the plan's folder, where programs begin
_PATIENCE_S = 60.0
_SYSCTLS = {
    # Router solicitations and the like are not traffic of the experiment.
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}


def sysctls(experiment: Experiment) -> dict[str, str]:
    """Return the kernel's settings on each host, socket buffers aside."""
    return _SYSCTLS | ({"net.ipv4.tcp_ecn": "1"} if experiment.ecn else {})


def command(plan: Path) -> list[str]:
    """Return the command that carries out a plan. Raises RefusedError without nr-link."""
    return [programs.require("nr-link"), "virtual", "run", str(plan)]


def host_of(ue: int) -> Host:
    """Return the host that UE number `ue`, from 1, is."""
    return "ue" if ue == 1 else f"ue{ue}"


def captures(experiment: Experiment, flows: Sequence[Flow]) -> dict[Host, str]:
    """Return the role of each host that is captured on: the server, and UEs that have a flow."""
    if not experiment.capture:
        return {}
    server_sends = flows[0].direction == "dl"
    ues = dict.fromkeys(host_of(flow.ue) for flow in flows)
    server, ue = ("sender", "receiver") if server_sends else ("receiver", "sender")
    return {"server": server, **dict.fromkeys(ues, ue)}


def capture_file(host: Host, role: str) -> str:
    """Return the name of a host's capture in raw/."""
    return f"{role}.pcap" if host in ("server", "ue") else f"{role}-{host}.pcap"


def sampled(experiment: Experiment, flows: Sequence[Flow]) -> list[Host]:
    """Return the hosts whose sockets are sampled: those that send TCP."""
    if not experiment.capture:
        return []
    tcp = [flow for flow in flows if flow.of_kernel]
    senders = ("server" if flow.direction == "dl" else host_of(flow.ue) for flow in tcp)
    return list(dict.fromkeys(senders))


def plan_of(
    experiment: Experiment, flows: Sequence[Flow], controls: Mapping[str, InVirtualTime]
) -> dict[str, Any]:
    """Return the plan's content; `controls`: what the congestion controls need."""
    plan: dict[str, Any] = {
        "schema": "nr-link-virtual/1",
        "link": "link.yaml",
        "seed": experiment.seed,
        "sysctls": sysctls(experiment) | socket_buffer_sysctls(experiment.socket_buffer),
    }
    plan |= _traffic(experiment, flows)
    if roles := captures(experiment, flows):
        files = {host: capture_file(host, role) for host, role in roles.items()}
        plan["capture"] = {"bytes": experiment.snaplen_bytes, "files": files}
    if hosts := sampled(experiment, flows):
        plan["sockets"] = {
            "interval_ms": experiment.socket_interval_ms,
            "ports": [flow.sending_port for flow in flows if flow.of_kernel],
            "files": {host: f"sockets-{host}.pcap" for host in hosts},
        }
    if changes := list(_changes(experiment, controls)):
        plan["changes"] = changes
    if parameters := {
        module: dict(wanted)
        for one in controls.values()
        for module, wanted in one.module_parameters.items()
    }:
        plan["module_parameters"] = parameters
    if traces := {name: one.trace for name, one in controls.items() if one.trace}:
        plan["cc_traces"] = traces
    starts = {name: experiment.stages_with(name)[0].at_s for name in controls}
    if policies := [
        _policy(name, one, starts[name]) for name, one in controls.items() if one.policy
    ]:
        plan["programs"] = [*policies, *plan.get("programs", [])]
    if modules := _modules(controls[name] for name in controls if not starts[name]):
        plan["modules"] = modules
    if experiment.traffic.most_bytes is not None:
        plan["limit_s"] = experiment.duration_s
    return plan


def _policy(name: str, control: InVirtualTime, start_s: float) -> dict[str, Any]:
    changes = any(one.of_policy for one in control.changes.values())
    return {
        "name": f"cc-{name}",
        "host": "server",
        "policy_of": name,
        "unprivileged": True,
        "command": [*control.policy, *(control.policy_changes if changes else ())],
        **({"start_s": start_s} if start_s else {}),
    }


def _modules(controls: Iterable[InVirtualTime]) -> list[str]:
    return [str(file) for one in controls for file in one.modules]


def _changes(
    experiment: Experiment, controls: Mapping[str, InVirtualTime]
) -> Iterator[dict[str, Any]]:
    """Yield what changes on the hosts at each instant: what a congestion control needs comes with
    it, so that nothing before is another run's."""
    for before, after in pairwise(experiment.stages):
        change: dict[str, Any] = {}
        first = [name for name in controls if experiment.stages_with(name)[0] == after]
        if modules := _modules(controls[name] for name in first):
            change["modules"] = modules
        for name in controls:
            of = controls[name].changes.get(after.at_s)
            if of and of.of_modules:
                change.setdefault("module_parameters", {}).update(of.of_modules)
            if of and of.of_policy:
                change.setdefault("policy_parameters", {})[name] = of.of_policy
        if before.experiment.flows != after.experiment.flows:
            change["cc"] = after.experiment.flows[0].cc
        if change:
            yield {"at_s": after.at_s, **change}


class Hosts:
    """The hosts of the guest, as far as flows ask for them."""

    def __init__(self, hosts: dict[Host, dict[str, Any]]) -> None:
        self.hosts = hosts

    def ue_host(self, ue: int) -> Host:
        """Return the host that UE number `ue` is."""
        return host_of(ue)


def planned_hosts(experiment: Experiment) -> Hosts:
    """Return the hosts with the addresses that they will have."""
    ues = range(1, experiment.ues + 1)
    addresses = {"server": SERVER_ADDRESS} | {host_of(ue): ue_address(ue) for ue in ues}
    return Hosts({host: {"address": address} for host, address in addresses.items()})


def is_built_in(experiment: Experiment, kind: TrafficDriver) -> bool:
    """Return whether nr-link's own traffic program makes such flows; else two programs do."""
    chosen = getattr(experiment.testbed, "traffic_program", BUILT_IN)
    return chosen == BUILT_IN and kind.is_built_in


def reads_of_users_programs(experiment: Experiment, flows: Sequence[Flow], raw: Path) -> list[str]:
    """Return what programs need that users wrote; nothing if there are none."""
    hosts = planned_hosts(experiment)
    kinds = [(flow, driver_of(flow.traffic)) for flow in flows]
    commands = [
        command
        for flow, kind in kinds
        if not is_built_in(experiment, kind)
        for command in kind.commands(experiment, flow, hosts, raw).values()
    ]
    return [path for one in commands if one.rights for path in one.rights.reads]


def _traffic(experiment: Experiment, flows: Sequence[Flow]) -> dict[str, Any]:
    """Return the plan's keys that make the traffic; senders start when receivers listen."""
    hosts = planned_hosts(experiment)
    by_programs = [flow for flow in flows if not is_built_in(experiment, driver_of(flow.traffic))]
    content: dict[str, Any] = {}
    if built_in := [_built_in(experiment, flow) for flow in flows if flow not in by_programs]:
        content["flows"] = built_in
    if not by_programs:
        return content
    content["programs"] = ends = []
    for flow in by_programs:
        commands = driver_of(flow.traffic).commands(experiment, flow, hosts, _RAW)
        sends_s = _LISTENING_S + flow.start_s
        ends += [
            _program(commands["receiver"], flow.receiver_host(hosts), 0.0),
            _program(commands["sender"], flow.sender_host(hosts), sends_s),
        ]
    steps_ns = (driver_of(flow.traffic).clock_step_ns for flow in by_programs)
    if step_ns := max((one for one in steps_ns if one is not None), default=None):
        content["clock_step_ns"] = step_ns
    return content | {"limit_s": experiment.duration_s + _PATIENCE_S}


def _program(command: Command, host: Host, start_s: float) -> dict[str, Any]:
    content = {
        "name": command.name,
        "host": host,
        "command": list(command.arguments),
        "start_s": start_s,
    }
    if command.output:
        content["output"] = command.output
    if command.rights:
        content["unprivileged"] = True
    return content


def _built_in(experiment: Experiment, flow: Flow) -> dict[str, Any]:
    return {
        "id": flow.id,
        "direction": flow.direction,
        "ue": flow.ue,
        "start_s": flow.start_s,
        "duration_s": flow.duration_s,
        "sending_port": flow.sending_port,
        "listening_port": flow.listening_port,
        **driver_of(flow.traffic).built_in(experiment, flow),
    }
