# SPDX-License-Identifier: Apache-2.0
"""The testbed `toy`: a veth pair between two network namespaces, without delay and without a radio.

A complete driver from a package of its own (docs/extending.md).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ccu.host.findings import Finding, program
from ccu.host.namespace import Namespace
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.option import Option
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds import Driver, Host, Site, Testbed
from ccu.testbeds.namespaces import NamespaceHosts
from ddu.console.problems import InvalidValue, Problem, Where

ADDRESSES: dict[Host, str] = {"server": "10.99.0.1", "ue": "10.99.0.2"}


class ToyOptions(TestbedOptions):
    """An option is declared once: flag, YAML key, JSON Schema and documentation follow."""

    section: ClassVar[str] = "toy"
    unsupported: ClassVar[frozenset[str]] = frozenset({"prb", "numerology", "scenario", "aqm"})
    unsupported_reason: ClassVar[str] = "a cable has no radio"

    name: Literal["toy"] = "toy"
    cable_length_km: Annotated[
        float, Field(gt=0, le=10_000), Option("Length of the cable in km.")
    ] = 1.0

    def refuse(self, experiment: Experiment) -> None:
        """Refuse by the values alone."""
        if experiment.ues > 1:
            rule = "a cable has one end for the UE"
            raise InvalidValue(Problem(rule, "leave it out", Where(key="ues")))


class ToyDriver(Driver):
    """Two hosts on this machine, and a cable."""

    summary = "a cable between two network namespaces of this machine"
    options = ToyOptions
    needs = ("iperf3", "ip")

    def up(self, site: Site) -> AbstractContextManager[Testbed]:
        return _up(site)

    def examine(self, experiment: Experiment) -> list[Finding]:
        assert isinstance(experiment.testbed, ToyOptions)
        length = f"{experiment.testbed.cable_length_km:g} km"
        return [program("ethtool", needed=False), Finding("cable", True, length)]

    def label(self, experiment: Experiment) -> str:  # noqa: ARG002
        return "toy"


TOY = ToyDriver()


@contextmanager
def _up(site: Site) -> Iterator[Toy]:
    names = {host: f"ccu-{site.resources.run_id}-{host}" for host in ADDRESSES}
    namespaces = [Namespace(name) for name in names.values()]
    # Registered before they are made: `ccu clean` finds what a killed run leaves.
    site.resources.register(*namespaces)
    try:
        for name in names.values():
            _ip("netns", "add", name)
        server, ue = (["veth0", "netns", name] for name in names.values())
        _ip("link", "add", *server, "type", "veth", "peer", "name", *ue)
        for host, name in names.items():
            _ip("-n", name, "address", "add", f"{ADDRESSES[host]}/24", "dev", "veth0")
            _ip("-n", name, "link", "set", "veth0", "up")
        yield Toy(names)
    finally:
        site.supervisor.stop_all()
        site.resources.remove(*namespaces)


class Toy(NamespaceHosts):
    """See `ccu.testbeds.Testbed`."""

    records: ClassVar[dict[str, Any]] = {"mac": None, "link": None, "link_summary": None}

    def __init__(self, names: dict[Host, str]) -> None:
        super().__init__(names)
        self.hosts = {
            host: {"address": address, "interface": "veth0", "netns": names[host]}
            for host, address in ADDRESSES.items()
        }
        self._crossed: dict[Direction, int] = {}

    def delivered_bytes(self, direction: Direction) -> int | None:
        return self._crossed.get(direction)

    def settle(self) -> dict[str, Any]:
        """Read what the cable carried; nothing can have gone wrong with it."""
        printed = _ip("-n", self.names["ue"], "-s", "-j", "link", "show", "veth0")
        counters = json.loads(printed)[0]["stats64"]
        self._crossed = {"dl": counters["rx"]["bytes"], "ul": counters["tx"]["bytes"]}
        return {"verdict": "valid", "verdict_reasons": []}


def _ip(*arguments: str) -> str:
    printed = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if printed.returncode != 0:
        raise RunFailed("testbed", f"ip {' '.join(arguments)}: {printed.stderr.strip()}")
    return printed.stdout
