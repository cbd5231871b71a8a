# SPDX-License-Identifier: Apache-2.0
"""A flow of a run: one data connection, or one UDP stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ccu.host.supervisor import Process
from ccu.spec.experiment import Direction
from ccu.spec.traffic import TrafficOptions

Host = str
"""`server`, `ue`, and where further UEs are hosts of their own, `ue2`, `ue3` …"""

_FIRST_LISTENING_PORT = 5201
# Below ip_local_port_range: no connection that asks for any port gets one of these.
_FIRST_SENDING_PORT = 20_001


class FlowHosts(Protocol):
    """The part of a testbed that a flow needs."""

    hosts: dict[Host, dict[str, Any]]

    def ue_host(self, ue: int) -> Host:
        """Return the host that UE number `ue`, from 1, is or is on."""
        ...


class Endpoint(NamedTuple):
    """One end of a flow."""

    host: Host
    address: str
    port: int


@dataclass
class Flow:
    """One data connection, known exactly before it exists."""

    number: int
    cc: str
    direction: Direction
    start_s: float
    duration_s: int
    traffic: TrafficOptions
    ue: int = 1
    source_port: int | None = None
    """The port that its sender has chosen, once it is known."""
    counted_bytes: int | None = None
    """Its payload that has arrived, once it is known."""
    counted_s: float | None = None
    """The time in which it has arrived."""
    received_until_utc_ns: int | None = None
    """When its receiver stopped counting, where that is known."""
    capture: Path | None = field(default=None, repr=False)
    """The capture at its receiver."""
    cc_read_back: str | None = None
    receiver: Process | None = field(default=None, repr=False)
    client: Process | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return f"f{self.number}"

    @property
    def of_kernel(self) -> bool:
        """Return whether it is TCP of the hosts' kernels, whose sockets can be sampled."""
        return self.traffic.own_ccs is None

    def sender_host(self, testbed: FlowHosts) -> Host:
        return "server" if self.direction == "dl" else testbed.ue_host(self.ue)

    def receiver_host(self, testbed: FlowHosts) -> Host:
        return testbed.ue_host(self.ue) if self.direction == "dl" else "server"

    @property
    def sending_port(self) -> int:
        return self.source_port or _FIRST_SENDING_PORT + self.number

    @property
    def listening_port(self) -> int:
        return _FIRST_LISTENING_PORT + self.number

    def sender(self, testbed: FlowHosts) -> Endpoint:
        host = self.sender_host(testbed)
        return Endpoint(host, self._address(testbed, host), self.sending_port)

    def target(self, testbed: FlowHosts) -> Endpoint:
        """Return the end that receives."""
        host = self.receiver_host(testbed)
        return Endpoint(host, self._address(testbed, host), self.listening_port)

    def _address(self, testbed: FlowHosts, host: Host) -> str:
        """Return the address of the server, or of the flow's own UE."""
        description = testbed.hosts[host]
        addresses: list[str] | None = description.get("addresses")
        return addresses[self.ue - 1] if addresses else str(description["address"])

    def wrong_cc(self) -> str | None:
        """Return what was seen instead of the congestion control that was asked for, if
        anything."""
        if not self.of_kernel or self.cc_read_back == self.cc:
            return None
        return f"{self.cc_read_back or 'no data connection'} was seen, not {self.cc}"

    def _identity(self) -> dict[str, Any]:
        """Return what run.json says of a flow of any kind."""
        return {
            "id": self.id,
            "cc": self.cc,
            "cc_read_back": self.cc_read_back,
            "direction": self.direction,
            "start_s": self.start_s,
            "ue": self.ue - 1,
        }

    def record(self, testbed: FlowHosts) -> dict[str, Any]:
        """Return the entry of run.json."""
        ends = {"sender": self.sender(testbed), "receiver": self.target(testbed)}
        until = self.received_until_utc_ns
        return {
            **self._identity(),
            "traffic": str(self.traffic),
            "received_bytes": self.counted_bytes,
            "with_drain_s": self.counted_s,
            **({} if until is None else {"received_until_utc_ns": until}),
            "control_port": self.listening_port,
            **{end: one._asdict() for end, one in ends.items()},
        }
