# SPDX-License-Identifier: Apache-2.0
"""The plan of `nr-link virtual run` (docs/virtual-time.md) for an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ccu.congestion import InVirtualTime
from ccu.congestion.reminis import parameters as reminis
from ccu.host import programs
from ccu.scenarios.link_config import ue_address
from ccu.spec.experiment import Experiment
from ccu.testbeds import Host, iperf3_commands, sender_program
from ccu.testbeds.flow import Flow

FILE = "virtual-plan.json"
CAPTURED_BYTES = 128
SERVER_ADDRESS = "10.45.0.1"
# Its client polls the clock until a timer is due (docs/virtual-time.md).
_IPERF3_CLOCK_STEP_NS = 10_000
_LISTENING_S = 0.1
_LOGS = Path("logs")  # below the plan's folder, where programs begin
_PATIENCE_S = 60.0
_REMINIS_MODULE = "tcp_reminis"
_SYSCTLS = {
    # Router solicitations and the like are not traffic of the experiment.
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}


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
    if not experiment.capture or experiment.traffic.kind == "udp":
        return []
    tcp = [flow for flow in flows if flow.program is None]
    senders = ("server" if flow.direction == "dl" else host_of(flow.ue) for flow in tcp)
    return list(dict.fromkeys(senders))


def plan_of(
    experiment: Experiment,
    flows: Sequence[Flow],
    controls: Mapping[str, InVirtualTime],
) -> dict[str, Any]:
    """Return the plan's content; `controls`: the congestion controls that the kernel has not."""
    plan: dict[str, Any] = {
        "schema": "nr-link-virtual/1",
        "link": "link.yaml",
        "seed": experiment.seed,
        "sysctls": _SYSCTLS | ({"net.ipv4.tcp_ecn": "1"} if experiment.ecn else {}),
    }
    own = [flow for flow in flows if flow.program is not None]
    others = [flow for flow in flows if flow.program is None]
    if by_iperf3(experiment):
        plan |= _iperf3(experiment, others)
    else:
        plan["flows"] = [_flow(experiment, flow) for flow in others]
    if own:
        ends = [end for flow in own for end in _sender_program(flow)]
        plan["programs"] = [*plan.get("programs", []), *ends]
        plan["limit_s"] = experiment.duration_s + _PATIENCE_S
    if roles := captures(experiment, flows):
        files = {host: capture_file(host, role) for host, role in roles.items()}
        plan["capture"] = {"bytes": CAPTURED_BYTES, "files": files}
    if hosts := sampled(experiment, flows):
        plan["sockets"] = {
            "interval_ms": experiment.socket_interval_ms,
            "ports": [flow.sending_port for flow in flows if flow.program is None],
            "files": {host: f"sockets-{host}.pcap" for host in hosts},
        }
    if "reminis" in experiment.servers_ccs:
        wanted = reminis.for_module(reminis.of_experiment(experiment))
        plan["module_parameters"] = {_REMINIS_MODULE: wanted}
        plan["cc_trace"] = "cc-reminis.csv"
    if policies := [_policy(name, one) for name, one in controls.items() if one.policy]:
        plan["programs"] = [*policies, *plan.get("programs", [])]
    if modules := [str(file) for one in controls.values() for file in one.modules]:
        plan["modules"] = modules
    if experiment.traffic.volume_bytes is not None:
        plan["limit_s"] = experiment.duration_s
    return plan


def _policy(name: str, control: InVirtualTime) -> dict[str, Any]:
    return {
        "name": f"cc-{name}",
        "host": "server",
        "policy_of": name,
        "command": list(control.policy),
    }


def ends_of(flow: Flow) -> list[tuple[Host, str]]:
    """Return the sender and the receiver, each as host and address."""
    ends: list[tuple[Host, str]] = [
        ("server", SERVER_ADDRESS),
        (host_of(flow.ue), ue_address(flow.ue)),
    ]
    return ends if flow.direction == "dl" else ends[::-1]


def _sender_program(flow: Flow) -> list[dict[str, Any]]:
    (sender, source), (receiver, target) = ends_of(flow)
    commands = sender_program.commands(flow, _LOGS, source, target)
    starts_s = {"receiver": 0.0, "sender": _LISTENING_S + flow.start_s}
    hosts = {"receiver": receiver, "sender": sender}
    return [
        {
            "name": f"{flow.id}-{end}",
            "host": hosts[end],
            "command": command,
            "start_s": starts_s[end],
        }
        for end, command in commands.items()
    ]


def by_iperf3(experiment: Experiment) -> bool:
    """Return whether iperf3 makes the traffic, as two programs for each flow."""
    return getattr(experiment.testbed, "traffic_program", None) == "iperf3"


def _iperf3(experiment: Experiment, flows: Sequence[Flow]) -> dict[str, Any]:
    """Return the plan's keys of flows by iperf3; its clients start when the servers listen."""
    program = programs.require("iperf3")
    found = []
    for flow in flows:
        (sender, source), (receiver, target) = ends_of(flow)
        listening = iperf3_commands.server(program, flow, target)
        sending = iperf3_commands.client(program, experiment, flow, source, target)
        found += [
            _program(f"{flow.id}-server", receiver, listening, 0.0),
            _program(f"{flow.id}-client", sender, sending, _LISTENING_S + flow.start_s),
        ]
    return {
        "programs": found,
        "clock_step_ns": _IPERF3_CLOCK_STEP_NS,
        "limit_s": experiment.duration_s + _PATIENCE_S,
    }


def _program(name: str, host: Host, command: list[str], start_s: float) -> dict[str, Any]:
    output = f"iperf3-{name}.json"
    return {"name": name, "host": host, "command": command, "start_s": start_s, "output": output}


def _flow(experiment: Experiment, flow: Flow) -> dict[str, Any]:
    traffic = experiment.traffic
    entry: dict[str, Any] = {
        "id": flow.id,
        "direction": flow.direction,
        "ue": flow.ue,
        "start_s": flow.start_s,
        "duration_s": flow.duration_s,
        "sending_port": flow.sending_port,
        "listening_port": flow.listening_port,
    }
    if traffic.kind == "udp":
        return entry | {
            "transport": "udp",
            "rate_bps": traffic.rate_bps,
            "length_bytes": iperf3_commands.datagram_bytes(experiment),
        }
    volume = {"volume_bytes": traffic.volume_bytes} if traffic.volume_bytes is not None else {}
    return entry | {"cc": flow.cc, **volume}
