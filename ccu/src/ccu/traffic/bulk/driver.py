# SPDX-License-Identifier: Apache-2.0
"""The drivers of the kinds `tcp` and `udp`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ccu.spec import units
from ccu.spec.experiment import Experiment
from ccu.spec.traffic import TrafficOptions
from ccu.traffic import Command, End, TrafficDriver
from ccu.traffic.bulk import iperf3
from ccu.traffic.flow import Flow, FlowHosts
from ddu.console.problems import invalid

_UDP_HEADERS_BYTES = 28


class Tcp(TrafficOptions):
    """Traffic as fast as the congestion control allows; with `volume_bytes` until all is sent, for
    which the run's duration is the most it may take."""

    chosen_by_default: ClassVar[bool] = True
    example: ClassVar[str] = "tcp or tcp:1GB"

    kind: Literal["tcp"] = "tcp"
    volume_bytes: Annotated[int, Field(ge=1)] | None = None

    @classmethod
    def read(cls, spec: str) -> dict[str, object]:
        return {"volume_bytes": units.size_bytes(spec, "tcp:1GB")} if spec else {}

    @property
    def spec(self) -> str:
        return "" if self.volume_bytes is None else f"{self.volume_bytes}B"

    @property
    def most_bytes(self) -> int | None:
        return self.volume_bytes


class Udp(TrafficOptions):
    """Datagrams at a rate, IP headers not counted."""

    example: ClassVar[str] = "udp:100M"

    kind: Literal["udp"] = "udp"
    rate_bps: Annotated[float, Field(gt=0, le=100e9)]

    @classmethod
    def read(cls, spec: str) -> dict[str, object]:
        if not spec:
            raise invalid("udp needs a rate", "write for example udp:100M")
        return {"rate_bps": units.bits_per_second(spec)}

    @property
    def spec(self) -> str:
        return f"{self.rate_bps:.12g}bit/s"

    @property
    def own_ccs(self) -> tuple[str, ...]:
        return ("udp",)

    @property
    def offered_bps(self) -> float:
        return self.rate_bps


class _Bulk(TrafficDriver):
    """The common part of both: iperf3 at both ends."""

    needs = (iperf3.PROGRAM,)
    runs_everywhere = True
    listens_on_tcp = True
    is_built_in = True
    # Its client polls the clock until a timer is due (docs/virtual-time.md).
    clock_step_ns = 10_000

    def commands(
        self,
        experiment: Experiment,
        flow: Flow,
        hosts: FlowHosts,
        raw: Path,  # noqa: ARG002
    ) -> Mapping[End, Command]:
        return iperf3.commands(flow, hosts, self._sent(experiment, flow))

    def _sent(self, experiment: Experiment, flow: Flow) -> list[str]:
        """Return iperf3's words for what is sent."""
        raise NotImplementedError

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:  # noqa: ARG002
        client, server = (iperf3.report(raw, flow, end) for end in ("sender", "receiver"))
        # With UDP, the "sum" of iperf3 3.12 is that of the sender, which here sent nothing.
        read = server["end"]["sum_received"]
        flow.counted_bytes, flow.counted_s = int(read["bytes"]), float(read["seconds"])
        if flow.wrong_cc():  # A busy machine may have seen the socket too early, or not at all.
            reported = client["end"].get("sender_tcp_congestion")
            flow.cc_read_back = reported or flow.cc_read_back

    def failure(self, flow: Flow, end: End, code: int, raw: Path) -> str:
        iperf3.report(raw, flow, end)
        return super().failure(flow, end, code, raw)


class TcpDriver(_Bulk):
    """TCP of the hosts' kernels."""

    summary = "TCP as fast as its congestion control lets it, or tcp:VOLUME (tcp:1GB)"
    options = Tcp

    def _sent(self, experiment: Experiment, flow: Flow) -> list[str]:  # noqa: ARG002
        volume = flow.traffic.most_bytes
        lasts = ["-t", str(flow.duration_s)] if volume is None else ["-n", str(volume)]
        return [*lasts, "-C", flow.cc]

    def built_in(self, experiment: Experiment, flow: Flow) -> dict[str, Any]:  # noqa: ARG002
        volume = flow.traffic.most_bytes
        return {"cc": flow.cc, **({} if volume is None else {"volume_bytes": volume})}


class UdpDriver(_Bulk):
    """UDP at a constant rate."""

    summary = "UDP at a constant rate, udp:RATE (udp:100M)"
    options = Udp

    def _sent(self, experiment: Experiment, flow: Flow) -> list[str]:
        rate, length = f"{flow.traffic.offered_bps:.0f}", str(_datagram_bytes(experiment))
        return ["-t", str(flow.duration_s), "-u", "-b", rate, "-l", length]

    def built_in(self, experiment: Experiment, flow: Flow) -> dict[str, Any]:
        return {
            "transport": "udp",
            "rate_bps": flow.traffic.offered_bps,
            "length_bytes": _datagram_bytes(experiment),
        }


def _datagram_bytes(experiment: Experiment) -> int:
    """Return the payload of a UDP datagram that fills a packet, in bytes."""
    return experiment.mtu_bytes - _UDP_HEADERS_BYTES


TCP = TcpDriver()
UDP = UdpDriver()
