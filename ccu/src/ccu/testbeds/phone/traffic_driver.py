# SPDX-License-Identifier: Apache-2.0
"""The kind of traffic of a phone, which makes the connections itself (`traffic.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from ccu.host.setup import Setup
from ccu.spec.experiment import Direction, Experiment, FlowPlan
from ccu.spec.traffic import TrafficOptions
from ccu.traffic import RunningHosts, TrafficDriver
from ccu.traffic.flow import Flow, FlowHosts


class PhoneTrafficOptions(TrafficOptions):
    """TCP for the run's duration; the testbed's options say by which program."""

    kind: Literal["phone"] = "phone"


class PhoneTraffic(TrafficDriver):
    """Our sender on this machine, and nc, iperf3 or the user's program on the phone."""

    summary = "TCP between this machine and a phone, of the testbed phone only"
    options = PhoneTrafficOptions
    only_on: ClassVar[str | None] = "phone"

    def flow(
        self,
        experiment: Experiment,
        plan: FlowPlan,
        number: int,
        ue: int,  # noqa: ARG002
        direction: Direction,
    ) -> Flow:
        from ccu.testbeds.phone.flow import flow_of

        return flow_of(experiment, plan, number, direction)

    def listen(self, site: Setup, testbed: RunningHosts, flows: Sequence[Flow]) -> None:
        from ccu.testbeds.phone import traffic

        traffic.listen(site, testbed, flows)

    def connect(self, site: Setup, testbed: RunningHosts, flow: Flow) -> None:
        from ccu.testbeds.phone import traffic

        traffic.connect(site, testbed, flow)

    def look(
        self,
        site: Setup,  # noqa: ARG002
        testbed: RunningHosts,  # noqa: ARG002
        flow: Flow,
        started_s: float,
    ) -> None:
        from ccu.testbeds.phone import traffic

        traffic.look(flow, started_s)

    def finished(self, flow: Flow) -> bool:
        from ccu.testbeds.phone import traffic

        return traffic.finished(flow)

    def problems(self, flow: Flow) -> list[str]:
        from ccu.testbeds.phone import traffic

        return traffic.problems(flow)

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:  # noqa: ARG002
        from ccu.testbeds.phone import traffic

        flow.counted_bytes = traffic.received_bytes(flow)


PHONE = PhoneTraffic()
