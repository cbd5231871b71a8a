# SPDX-License-Identifier: Apache-2.0
"""The driver of the kind `program`.

A wrapper is one program for both ends: `wrapper receiver PORT` and `wrapper sender ADDRESS PORT`.
The port that it sends from is its own choice, so the capture at the receiver says which it was,
and how much arrived.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar, Literal

from ccu.host import programs
from ccu.host.contain import Rights
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.traffic import TrafficOptions
from ccu.traffic import LISTENING_S, Command, End, TrafficDriver
from ccu.traffic.flow import Flow, FlowHosts
from ccu.traffic.program import timed_program
from ddu.console.input_file import why_none
from ddu.console.problems import invalid, refusal
from ddu.run.integrity import sha256_of

_SOCKETS = (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""Kinds that a program that sends needs; by netlink C libraries list addresses."""
_ENDING_S = 2.5  # The receiver hears what still comes.


class Program(TrafficOptions):
    """A program that sends by itself; its flows have its name where others have their congestion
    control's."""

    example: ClassVar[str] = "program:./mine.py"

    kind: Literal["program"] = "program"
    path: str

    @classmethod
    def read(cls, spec: str) -> dict[str, object]:
        if not spec:
            raise invalid("the program is missing", "write program:FILE, your wrapper")
        return {"path": spec}

    @property
    def spec(self) -> str:
        return self.path

    @property
    def own_ccs(self) -> tuple[str, ...]:
        return (PurePath(self.path).stem,)

    @property
    def file(self) -> str:
        return self.path

    def located(self) -> Path:
        """Return the program's file."""
        return Path(self.path).expanduser().resolve()


class ProgramDriver(TrafficDriver):
    """A program of the user's at both ends, for as long as the flow lasts."""

    summary = "a sender program of your own, by UDP: program:FILE, also in place of --cc"
    options = Program

    def check(self, experiment: Experiment, traffic: TrafficOptions) -> None:
        """Refuse a program that cannot be started, or whose packets nothing would count."""
        assert isinstance(traffic, Program)
        file = traffic.located()
        if not file.is_file():
            raise refusal(f"{traffic}: {why_none(file)}", "name your wrapper", key="cc")
        if not os.access(file, os.X_OK):
            raise refusal(f"{traffic}: is not executable", f"type: chmod +x {file}", key="cc")
        if not experiment.capture:
            rule = "what a program sends is counted in the captures"
            raise refusal(rule, "leave out --no-capture", key="capture")

    def implementation(self, traffic: TrafficOptions) -> dict[str, Any]:
        assert isinstance(traffic, Program)
        file = traffic.located()
        digest = sha256_of(file)
        return {"kind": "program", "source": str(file), "sha256": digest, "parameters": {}}

    def commands(
        self,
        experiment: Experiment,  # noqa: ARG002
        flow: Flow,
        hosts: FlowHosts,
        raw: Path,
    ) -> Mapping[End, Command]:
        traffic = flow.traffic
        assert isinstance(traffic, Program)
        source, target = flow.sender(hosts).address, flow.target(hosts).address
        port = str(flow.listening_port)
        listens_s = LISTENING_S + flow.start_s + flow.duration_s + _ENDING_S

        def command(end: End, lasts_s: float, own: str, other: str, *words: str) -> Command:
            arguments = [
                *(*programs.of_module(timed_program), f"{lasts_s:g}", str(_log(raw, flow, end))),
                *(f"CCU_LOCAL_ADDRESS={own}", f"CCU_REMOTE_ADDRESS={other}"),
                *("--", str(traffic.located()), end, *words),
            ]
            rights = Rights(
                reads=(str(traffic.located().parent),),
                writes=(str(_log(raw, flow, end)),),
                keeps_network=True,
                socket_families=_SOCKETS,
            )
            return Command(f"{flow.id}-{end}", arguments, rights=rights)

        return {
            "receiver": command("receiver", listens_s, target, source, port),
            "sender": command("sender", flow.duration_s, source, target, target, port),
        }

    def failure(self, flow: Flow, end: End, code: int, raw: Path) -> str:  # noqa: ARG002
        return f"the {end} failed: {timed_program.last_lines(_log(raw, flow, end))}"

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:
        target = flow.target(hosts)
        assert flow.capture is not None
        by_port = arrived(flow.capture, target.address, target.port)
        if not by_port:
            rule = f"{flow.traffic} sent nothing to {target.address} port {target.port} by UDP"
            log = _log(raw, flow, "sender").name
            raise RunFailed("traffic", f"flow {flow.id}: {rule}. Its output is in raw/logs/{log}")
        flow.source_port = max(by_port, key=lambda port: by_port[port].payload_bytes)
        most = by_port[flow.source_port]
        flow.counted_bytes = most.payload_bytes
        # What a queue still held, or a program sent until it was killed, arrives after its time.
        flow.counted_s = max(float(flow.duration_s), most.lasted_s)


@dataclass
class Arrived:
    """UDP payload that arrived from one port, and when."""

    first_utc_ns: int
    last_utc_ns: int
    payload_bytes: int = 0

    @property
    def lasted_s(self) -> float:
        return (self.last_utc_ns - self.first_utc_ns) / 1e9


def arrived(capture: Path, address: str, port: int) -> dict[int, Arrived]:
    """Return the UDP payload that went to an address and port, by the port it came from."""
    from ddu.readers.packets.native.stream import PacketStream

    by_port: dict[int, Arrived] = {}
    columns = ["utc_ns", "dst", "sport", "dport", "udp_payload_bytes"]
    for batch in PacketStream(capture, columns=columns):
        for packet in batch.to_pylist():
            size = packet["udp_payload_bytes"]
            if size is not None and (packet["dst"], packet["dport"]) == (address, port):
                utc_ns = packet["utc_ns"]
                one = by_port.setdefault(packet["sport"], Arrived(utc_ns, utc_ns))
                one.payload_bytes += size
                one.last_utc_ns = utc_ns
    return by_port


def _log(raw: Path, flow: Flow, end: End) -> Path:
    return raw / "logs" / f"program-{flow.id}-{end}.log"


PROGRAM = ProgramDriver()
