# SPDX-License-Identifier: Apache-2.0
"""The traffic `pulse`: small UDP datagrams at a fixed rate, as games and sensors send them.

A complete kind of traffic from a package of its own (docs/extending.md). This file is also both of
its programs: `python ccu_pulse.py receive …` and `python ccu_pulse.py send …`.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

if TYPE_CHECKING or __name__ != "__main__":
    from pydantic import Field

    from ccu.spec.errors import RunFailed
    from ccu.spec.experiment import Experiment
    from ccu.spec.traffic import TrafficOptions
    from ccu.traffic import LISTENING_S, Command, End, TrafficDriver
    from ccu.traffic.flow import Flow, FlowHosts
    from ddu.console.problems import invalid

    class PulseOptions(TrafficOptions):
        """Datagrams per second; people write `pulse:50`, or `pulse` for 20."""

        example: ClassVar[str] = "pulse:50"

        kind: Literal["pulse"] = "pulse"
        per_second: Annotated[int, Field(ge=1, le=1000)] = 20

        @classmethod
        def read(cls, spec: str) -> dict[str, object]:
            """Return the fields that the text after the colon means."""
            if not spec:
                return {}
            if not spec.isdecimal():
                raise invalid(f"{spec!r} is not a number of datagrams per second", "write pulse:50")
            return {"per_second": int(spec)}

        @property
        def spec(self) -> str:
            return str(self.per_second)

        @property
        def own_ccs(self) -> tuple[str, ...]:
            return ("pulse",)

        @property
        def offered_bps(self) -> float:
            return 8.0 * PAYLOAD_BYTES * self.per_second

    class PulseDriver(TrafficDriver):
        """A program at either end."""

        summary = "small datagrams at a fixed rate: pulse:PER_SECOND (pulse:50)"
        options = PulseOptions

        def commands(
            self,
            experiment: Experiment,  # noqa: ARG002
            flow: Flow,
            hosts: FlowHosts,
            raw: Path,  # noqa: ARG002
        ) -> Mapping[End, Command]:
            assert isinstance(flow.traffic, PulseOptions)
            target, source = flow.target(hosts), flow.sender(hosts)
            listens_s = LISTENING_S + flow.start_s + flow.duration_s + ENDING_S
            to, own = (target.address, str(target.port)), (source.address, str(source.port))
            receive = ["receive", *to, f"{listens_s:g}"]
            send = ["send", *to, *own, f"{flow.duration_s:g}", str(flow.traffic.per_second)]
            program = [sys.executable, "-B", str(Path(__file__).resolve())]
            return {
                "receiver": Command(f"{flow.id}-pulse", [*program, *receive], report(flow)),
                "sender": Command(f"{flow.id}-pulses", [*program, *send]),
            }

        def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:  # noqa: ARG002
            try:
                content = json.loads((raw / report(flow)).read_text())
            except (OSError, ValueError) as error:
                raise RunFailed("traffic", f"flow {flow.id}: no report ({error})") from None
            flow.counted_bytes = content["received_bytes"]
            flow.counted_s = float(flow.duration_s)

    def report(flow: Flow) -> str:
        """Return the name of the receiver's report in raw/."""
        return f"pulse-{flow.id}.json"

    PULSE = PulseDriver()

PAYLOAD_BYTES = 100
ENDING_S = 1.5
"""The time in which the last packets arrive after the sender has ended."""


def receive(address: str, port: str, listens_s: str) -> None:
    """Count datagrams until the time is over, and print the sum as JSON."""
    ends = time.monotonic() + float(listens_s)
    count = count_bytes = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((address, int(port)))
        while (remaining_s := ends - time.monotonic()) > 0:
            receiver.settimeout(remaining_s)
            try:
                count_bytes += len(receiver.recv(2048))
                count += 1
            except TimeoutError:
                break
    print(json.dumps({"received_datagrams": count, "received_bytes": count_bytes}))


def send(address: str, port: str, own: str, own_port: str, lasts_s: str, rate: str) -> None:
    """Send a datagram whenever one is due; sleep in between, as virtual time wants it."""
    began, number = time.monotonic(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((own, int(own_port)))
        while number < float(lasts_s) * int(rate):
            time.sleep(max(0.0, began + number / int(rate) - time.monotonic()))
            sender.sendto(number.to_bytes(8, "big").ljust(PAYLOAD_BYTES), (address, int(port)))
            number += 1


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
