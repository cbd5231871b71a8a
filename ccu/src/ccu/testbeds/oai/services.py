# SPDX-License-Identifier: Apache-2.0
"""The services of containers/oai.yml, for the LXC runtime and the checks before a start.

Compose itself reads the same file; a test compares this reader with `docker compose config`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ccu.spec import yaml_text
from ccu.testbeds.oai.configs import CONTAINERS, RECONFIGURATION, UE_FOLDER, Plan, ue_address

FILE = CONTAINERS / "oai.yml"
CORE = ("mysql", "nrf", "amf", "smf", "upf")
_FUNCTIONS = ("nrf", "udr", "udm", "ausf", "pcf", "bsf", "nssf", "amf", "upf", "smf")
OPEN5GS = ("mongodb", *(f"open5gs-{function}" for function in _FUNCTIONS))
_CORES: Mapping[str, tuple[str, ...]] = {"oai": CORE, "open5gs": OPEN5GS, "none": ()}
DATA_NETWORK = "data-network"


@dataclass(frozen=True)
class Server:
    """The end of the traffic opposite to the UEs."""

    service: str
    address: str
    interface: str


def core_of(plan: Plan) -> tuple[str, ...]:
    """Return the services of the core, in the order in which they start."""
    return _CORES[plan.core]


def upf_of(plan: Plan) -> str:
    """Return the service where N3 ends. Only with a core."""
    return next(service for service in core_of(plan) if service.endswith("upf"))


def server_of(plan: Plan) -> Server:
    """Return where the server is: in the data network, or without a core at the gNB."""
    if plan.core == "none":
        # OpenAirInterface's own addresses (nr_sdap.c): the UE has 10.0.1.2.
        return Server(plan.gnb_service, "10.0.1.1", "oaitun_enb1")
    return Server(DATA_NETWORK, "192.168.72.135", "eth0")


# ${NAME} and ${NAME:-default}; a default may hold anything but a closing brace.
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True)
class Service:
    name: str
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    capabilities: tuple[str, ...]
    devices: tuple[str, ...]
    mounts: tuple[tuple[str, str], ...]
    """(host's path, container's path), read-only."""
    addresses: Mapping[str, str]
    """The addresses by network; empty for a service with the host's network."""
    host_network: bool
    sysctls: Mapping[str, str]


def interpolate(node: Any, variables: Mapping[str, str]) -> Any:
    """Return `node` with Compose's variables substituted."""
    if isinstance(node, str):
        return _VARIABLE.sub(lambda variable: variables.get(variable[1]) or variable[2] or "", node)
    if isinstance(node, dict):
        return {key: interpolate(value, variables) for key, value in node.items()}
    if isinstance(node, list):
        return [interpolate(value, variables) for value in node]
    return node


def services(plan: Plan, variables: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of `plan` with all its UEs."""
    content = yaml_text.load(FILE.read_text())["services"]
    by_name = {name: raw for name, raw in content.items() if plan.profile in raw["profiles"]}
    for name, added in additions(plan).items():
        raw = by_name.setdefault(name, {})
        by_name[name] = raw | {
            key: [*raw.get(key, ()), *value] if isinstance(value, list) else value
            for key, value in added.items()
        }
    return {name: _service(name, interpolate(raw, variables)) for name, raw in by_name.items()}


def _service(name: str, raw: Mapping[str, Any]) -> Service:
    host = raw.get("network_mode") == "host"
    return Service(
        name=name,
        image=raw["image"],
        command=tuple(raw.get("command", ())),
        environment={key: str(value) for key, value in raw.get("environment", {}).items()},
        capabilities=tuple(raw.get("cap_add", ())),
        devices=tuple(item.partition(":")[0] for item in raw.get("devices", ())),
        mounts=tuple(_mount(item) for item in raw.get("volumes", ())),
        addresses={} if host else {net: it["ipv4_address"] for net, it in raw["networks"].items()},
        host_network=host,
        sysctls=dict(raw.get("sysctls", {})),
    )


def _mount(written: str) -> tuple[str, str]:
    source, target, *_ = written.split(":")
    return str((CONTAINERS / source).resolve()), target


def additions(plan: Plan) -> dict[str, Any]:
    """Return what `plan` adds to the services of the file, as Compose merges it: lists are joined.

    These are further UEs, copies of the first, and what not every machine or core needs.
    """
    first = plan.ue_service(1)
    base = yaml_text.load(FILE.read_text())["services"][first]
    ues: dict[str, Any] = {first: {}}
    for number in range(2, plan.ue_count + 1):
        one = copy.deepcopy(base)
        # Options and SIM depend on the number.
        one["environment"]["USE_ADDITIONAL_OPTIONS"] = f"${{OAI_UE{number}_OPTIONS}}"
        one["volumes"] = [item.replace("ue1.conf", f"ue{number}.conf") for item in one["volumes"]]
        one["networks"]["public_net"]["ipv4_address"] = ue_address(number)
        ues[plan.ue_service(number)] = one
    gnb: dict[str, Any] = {}
    if plan.core == "none":
        # The gNB is the server: it has a TUN device, and passes the UE its configuration by files.
        gnb = {"cap_add": ["NET_ADMIN", "NET_RAW"], "devices": ["/dev/net/tun:/dev/net/tun"]}
        ues[first]["volumes"] = [
            f"${{OAI_CONFIG:-./defaults}}/{file}:{UE_FOLDER}/{file}:ro" for file in RECONFIGURATION
        ]
    added = {plan.gnb_service: gnb, **ues}
    if plan.real_time:
        for one in added.values():
            one["cap_add"] = [*one.get("cap_add", ()), "SYS_NICE"]
    return {name: one for name, one in added.items() if one}


def write_additions(plan: Plan, folder: Path) -> list[Path]:
    """Return the Compose files of `plan`: the project's, and a new one with its additions."""
    added = additions(plan)
    if not added:
        return [FILE]
    file = folder / "additions.yml"
    file.write_text(yaml.safe_dump({"services": added}, sort_keys=False))
    return [FILE, file]
