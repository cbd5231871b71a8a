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

from ccu.testbeds.oai.configs import CONTAINERS, Plan, ue_address

FILE = CONTAINERS / "oai.yml"
CORE = ("mysql", "nrf", "amf", "smf", "upf")
DATA_NETWORK = "data-network"

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
    health: tuple[str, ...]
    """The command of the health check; empty if there is none."""
    sysctls: Mapping[str, str]


def interpolate(node: Any, variables: Mapping[str, str]) -> Any:
    """Return `node` with Compose's variables substituted."""
    if isinstance(node, str):
        return _VARIABLE.sub(lambda found: variables.get(found[1]) or found[2] or "", node)
    if isinstance(node, dict):
        return {key: interpolate(value, variables) for key, value in node.items()}
    if isinstance(node, list):
        return [interpolate(value, variables) for value in node]
    return node


def services(profile: str, variables: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of `profile`, in the file's order."""
    content = yaml.safe_load(FILE.read_text())
    return {
        name: _service(name, interpolate(raw, variables))
        for name, raw in content["services"].items()
        if profile in raw["profiles"]
    }


def all_services(plan: Plan, variables: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of `plan` with all its UEs."""
    by_name = services(plan.profile, variables)
    more = further_ues(plan) or {"services": {}}
    for name, raw in more["services"].items():
        by_name[name] = _service(name, interpolate(raw, variables))
    return by_name


def _service(name: str, raw: Mapping[str, Any]) -> Service:
    host = raw.get("network_mode") == "host"
    check = raw.get("healthcheck", {}).get("test", [])
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
        health=tuple(check[1:]) if check[:1] == ["CMD"] else (),
        sysctls=dict(raw.get("sysctls", {})),
    )


def _mount(written: str) -> tuple[str, str]:
    source, target, *_ = written.split(":")
    return str((CONTAINERS / source).resolve()), target


def further_ues(plan: Plan) -> dict[str, Any] | None:
    """Return a Compose file with the second and further UEs, copies of the first; None without."""
    if plan.ue_count == 1:
        return None
    first = plan.ue_service(1)
    base = yaml.safe_load(FILE.read_text())["services"][first]
    made = {}
    for number in range(2, plan.ue_count + 1):
        one = copy.deepcopy(base)
        # Options and SIM depend on the number.
        one["environment"]["USE_ADDITIONAL_OPTIONS"] = f"${{OAI_UE{number}_OPTIONS}}"
        one["volumes"] = [item.replace("ue1.conf", f"ue{number}.conf") for item in one["volumes"]]
        one["networks"]["public_net"]["ipv4_address"] = ue_address(number)
        made[plan.ue_service(number)] = one
    return {"services": made}


def write_further_ues(plan: Plan, folder: Path) -> list[Path]:
    """Return the Compose files of `plan`: the project's, and a new one with further UEs."""
    more = further_ues(plan)
    if more is None:
        return [FILE]
    file = folder / "further-ues.yml"
    file.write_text(yaml.safe_dump(more, sort_keys=False))
    return [FILE, file]
