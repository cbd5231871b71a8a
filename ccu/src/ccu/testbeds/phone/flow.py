# SPDX-License-Identifier: Apache-2.0
"""A flow of a phone: its plan, and what the sender and the phone report of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccu.spec.experiment import Direction, Experiment
from ccu.spec.flow_plan import FlowPlan
from ccu.testbeds.phone.address import plain
from ccu.testbeds.phone.options import PHONES_OWN, phone_options
from ccu.traffic import traffic_of
from ccu.traffic.flow import Flow, FlowHosts, Host

_EARLY_S = 0.5


@dataclass
class PhoneFlow(Flow):
    """A connection that the phone makes; its peer is known after the sender has accepted it."""

    reached_at: str = ""
    port: int = 0
    phones_cc: str | None = None
    events: Path | None = None
    is_manual: bool = False
    script: str = ""
    iperf3: str | None = None
    """The phone's iperf3, if it carries this flow."""
    served: dict[str, Any] | None = None
    done: dict[str, Any] | None = None

    @property
    def sending_port(self) -> int:
        return self.port if self.direction == "dl" else 0

    @property
    def received_bytes(self) -> int:
        """Return the bytes that the phone acknowledged, or that came from it."""
        done = self.done or {}
        return int(done.get("acked_bytes" if self.direction == "dl" else "bytes") or 0)

    def record(self, testbed: FlowHosts) -> dict[str, Any]:
        nobody = "::" if ":" in self.reached_at else "0.0.0.0"
        served = self.served or {"local": [self.reached_at, self.port], "peer": [nobody, None]}
        hosts: dict[Host, list[Any]] = {"server": served["local"], "ue": served["peer"]}
        ends = {"sender": self.sender_host(testbed), "receiver": self.receiver_host(testbed)}
        return {
            **self._identity(),
            "load": "iperf3" if self.iperf3 else "by hand" if self.is_manual else "nc",
            "control_port": served.get("control_port") if self.direction == "dl" else None,
            "received_bytes": self.received_bytes,
            "lasted_s": (self.done or {}).get("lasted_s"),
            "with_drain_s": (self.done or {}).get("with_drain_s"),
            "ended_by": (self.done or {}).get("why"),
            "over_http": served.get("http"),
        } | {
            end: {"host": host, "address": plain(hosts[host][0]), "port": hosts[host][1]}
            for end, host in ends.items()
        }

    @property
    def left_early(self) -> bool:
        """Return whether the phone closed the connection before the flow's time was over."""
        if self.done is None or not self.done["why"].startswith("peer left"):
            return False
        return float(self.done["lasted_s"]) < self.duration_s - _EARLY_S

    def wrong_cc(self) -> str | None:
        """Return the mismatch of the server's congestion control; the phone's is not checked."""
        return None if self.direction == "ul" else super().wrong_cc()


def flow_of(experiment: Experiment, plan: FlowPlan, number: int, direction: Direction) -> PhoneFlow:
    """Return a flow, on a port of its own."""
    settings = phone_options(experiment)
    return PhoneFlow(
        number,
        plan.cc if direction == "dl" else PHONES_OWN,
        direction,
        experiment.starts_s(plan, number),
        round(experiment.duration_s - plan.start_s),
        traffic_of(experiment, plan),
        port=settings.port + number,
        is_manual=not settings.has_shell,
    )
