# SPDX-License-Identifier: Apache-2.0
"""The places where an experiment can run: add a module with a Testbed, and its line in TESTBEDS."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.spec.experiment import PHONE, Experiment, Way

Host = str
"""`server`, `ue`, and where further UEs are hosts of their own, `ue2`, `ue3` …"""


@dataclass(frozen=True)
class Site:
    """What a testbed gets to work with: the resolved experiment and where to write."""

    experiment: Experiment
    scenario: Path
    raw: Path
    supervisor: Supervisor
    resources: Resources


class Testbed(Protocol):
    """The path between the server and the UEs, while it is up."""

    hosts: dict[Host, dict[str, Any]]
    """For each host what run.json says of it, as read back."""
    records: dict[str, Any]
    """The keys `mac`, `link` and `link_summary` of run.json."""

    @property
    def clock(self) -> dict[str, Any]:
        """The keys `offset_ns` and `offset_uncertainty_ns` of run.json's `time`."""
        ...

    def ue_host(self, ue: int) -> Host:
        """The host that UE number `ue`, from 1, is or is on."""
        ...

    def command(self, host: Host, arguments: Sequence[str]) -> list[str]:
        """The command that runs `arguments` on a host."""
        ...

    def congestion_control(self, host: Host, port: int) -> str | None:
        """The one that the connection with local `port` uses now; None without a connection."""
        ...

    def listens(self, host: Host, port: int) -> bool:
        """Whether a TCP socket waits for connections on `port`."""
        ...

    def delivered_bytes(self, way: Way) -> int | None:
        """What the radio's own counters say to have delivered; None if they do not tell.

        Asked after `settle`.
        """
        ...

    def settle(self) -> dict[str, Any]:
        """Takes the path down in order; returns its own account (see docs/run-directory.md)."""
        ...


SHARED_CLOCK = {"offset_ns": 0, "offset_uncertainty_ns": 0}
"""Of hosts on one kernel."""


class TestbedKind(NamedTuple):
    """How a kind of testbed is brought up, and what it asks of this machine."""

    summary: str
    check: Callable[[Experiment, Path], None]
    """Refuses, before anything starts, what it cannot carry: (experiment, scenario's file)."""
    up: Callable[[Site], AbstractContextManager[Testbed]]
    needs: tuple[str, ...]
    """Programs of this machine."""


def kinds() -> dict[str, TestbedKind]:
    """Every testbed by its name."""
    return {
        "emulated": _kind("nr-link between two network namespaces of this machine", "emulated"),
        "rfsim": _kind(
            "OpenAirInterface's core, gNB and UE in containers, radio in software", "oai"
        ),
        "usrp": _kind("the same over two USRPs (--usrp b210 or x310:addr=A+addr=B)", "oai"),
        PHONE: _kind(
            "a phone in an operator's network, by adb or by hand (docs/phone.md)", "phone", needs=()
        ),
    }


def _kind(summary: str, name: str, needs: tuple[str, ...] = ("iperf3", "ip")) -> TestbedKind:
    """Of the module `name` here, which is imported when it is used: each takes its time."""

    def module() -> Any:
        return importlib.import_module(f"{__name__}.{name}.testbed")

    return TestbedKind(
        summary,
        lambda experiment, scenario: module().check(experiment, scenario),
        lambda site: module().up(site),
        needs,
    )
