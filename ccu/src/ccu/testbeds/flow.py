# SPDX-License-Identifier: Apache-2.0
"""A flow of a run: one data connection, or one UDP stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ccu.host.supervisor import Process
from ccu.spec.experiment import Direction

if TYPE_CHECKING:
    from ccu.testbeds import Host

_FIRST_LISTENING_PORT = 5201
# Below ip_local_port_range: no connection that asks for any port gets one of these.
_FIRST_SENDING_PORT = 20_001


class FlowHosts(Protocol):
    """The part of a testbed that a flow needs."""

    hosts: dict[Host, dict[str, Any]]

    def ue_host(self, ue: int) -> Host: ...


@dataclass
class Flow:
    """One data connection, known exactly before it exists."""

    number: int
    cc: str
    direction: Direction
    start_s: float
    duration_s: int
    ue: int = 1
    program: str | None = None
    """The sender program of the user's own, by UDP; None: iperf3's TCP or UDP."""
    source_port: int | None = None
    """The port that such a program sends from, once it is known."""
    counted_bytes: int | None = None
    """Its payload that has arrived, once it is known."""
    counted_in: Path | None = field(default=None, repr=False)
    """The capture at its receiver, which has `receiver_address`."""
    receiver_address: str | None = field(default=None, repr=False)
    cc_read_back: str | None = None
    receiver: Process | None = field(default=None, repr=False)
    client: Process | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return f"f{self.number}"

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

    def address(self, testbed: FlowHosts, host: Host) -> str:
        """Return the MAC of the server, or of the flow's own UE."""
        found = testbed.hosts[host]
        addresses: list[str] | None = found.get("addresses")
        return addresses[self.ue - 1] if addresses else str(found["address"])

    def wrong_cc(self) -> str | None:
        """Return the congestion control that ran instead of the requested one, if any."""
        if self.program is not None or self.cc_read_back == self.cc:
            return None
        return f"{self.cc_read_back or 'no data connection'} was seen, not {self.cc}"

    def _identity(self) -> dict[str, Any]:
        """Return the part of run.json of a flow of any kind."""
        return {
            "id": self.id,
            "cc": self.cc,
            "cc_read_back": self.cc_read_back,
            "direction": self.direction,
            "start_s": self.start_s,
            "ue": self.ue - 1,
        }

    def record(self, testbed: FlowHosts) -> dict[str, Any]:
        """The line of run.json."""
        ends = {
            "sender": (self.sender_host(testbed), self.sending_port),
            "receiver": (self.receiver_host(testbed), self.listening_port),
        }
        counted = {"received_bytes": self.counted_bytes, "with_drain_s": self.duration_s}
        by_program = {"program": self.program, **counted} if self.program is not None else {}
        return {**self._identity(), **by_program, "control_port": self.listening_port} | {
            end: {"host": host, "address": self.address(testbed, host), "port": port}
            for end, (host, port) in ends.items()
        }
