# SPDX-License-Identifier: Apache-2.0
"""The driver of the kind `quic`."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ccu.host import policies
from ccu.host import programs as installed
from ccu.host.contain import Rights
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.spec.traffic import TrafficOptions
from ccu.traffic import Command, End, TrafficDriver, read_report
from ccu.traffic.flow import Flow, FlowHosts
from ccu.traffic.quic import policy, programs
from ccu.traffic.quic.options import Quic
from ddu.console.problems import refusal

_HEADERS_BYTES = 28  # IPv4 and UDP
_LEAST_DATAGRAM_BYTES = 1200
_SOCKETS = (socket.AF_INET, socket.AF_INET6)


class QuicDriver(TrafficDriver):
    """One QUIC connection for each flow; both ends write a qlog and the secrets."""

    summary = "QUIC: quic:CC (bbr, cubic, newreno, ./mine.py), quic:aioquic, +WORDS (docs/quic.md)"
    options = Quic
    needs = (programs.QUIC_FLOW,)

    def check(self, experiment: Experiment, traffic: TrafficOptions) -> None:
        """Refuse a path that is too narrow, a policy that is not Python, and an implementation that
        is not installed."""
        assert isinstance(traffic, Quic)
        payload_bytes = experiment.mtu_bytes - _HEADERS_BYTES
        if payload_bytes < _LEAST_DATAGRAM_BYTES:
            more = _LEAST_DATAGRAM_BYTES - payload_bytes
            raise refusal(
                f"QUIC needs a path for {_LEAST_DATAGRAM_BYTES} bytes of UDP payload (RFC 9000 "
                f"section 14), and an MSS of {experiment.mss_bytes} leaves {payload_bytes}",
                f"choose an MSS of {experiment.mss_bytes + more} bytes and more",
                key="mss",
            )
        if file := traffic.located_policy():
            policies.check_syntax(file)
        if "aioquic" in (traffic.implementation, traffic.receiving) and not find_spec("aioquic"):
            raise refusal(
                "aioquic is not installed", "type: pip install 'over5g[quic]'", key="traffic"
            )

    def try_out(self, traffic: TrafficOptions) -> None:
        assert isinstance(traffic, Quic)
        if file := traffic.located_policy():
            policy.try_out(file, traffic.parameters)

    def implementation(self, traffic: TrafficOptions) -> dict[str, Any] | None:
        """Return what the flow's policy is; nothing where quinn or aioquic decides."""
        assert isinstance(traffic, Quic)
        if (file := traffic.located_policy()) is None:
            return None
        return dict(policy.said_of(file, traffic.parameters))

    def prepare(self, experiment: Experiment, flows: Sequence[Flow], raw: Path) -> None:  # noqa: ARG002
        """Make the receivers' certificate, which follows from the experiment's seed."""
        folder = raw / programs.FOLDER
        folder.mkdir()
        program = installed.require(programs.QUIC_FLOW)
        command = [program, "certificate", str(folder), "--seed", str(experiment.seed)]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise RunFailed("traffic", made.stderr.strip())

    def commands(
        self, experiment: Experiment, flow: Flow, hosts: FlowHosts, raw: Path
    ) -> Mapping[End, Command]:
        traffic = flow.traffic
        assert isinstance(traffic, Quic)
        source, target = flow.sender(hosts), flow.target(hosts)

        def end(end: End) -> Command:
            here, peer = (target, source) if end == "receiver" else (source, target)
            own = programs.Flow(
                flow.id,
                end,
                here,
                peer,
                flow.start_s,
                flow.duration_s,
                traffic,
                raw / programs.FOLDER,
            )
            words = programs.command(experiment, own)
            rights = _rights(traffic, own) if end == "sender" else None
            return Command(f"{flow.id}-quic-{end}", words, _report_file(flow, end), rights)

        return {"receiver": end("receiver"), "sender": end("sender")}

    def trace(self, flow: Flow) -> str | None:
        """Return the file for what the flow's policy heard and answered."""
        assert isinstance(flow.traffic, Quic)
        return _policy_file(flow, "csv") if flow.traffic.policy else None

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:  # noqa: ARG002
        sent = _report(raw, flow, "sender")
        if "policy" in sent:
            policy.check_that_it_decided(flow.id, sent["policy"], raw / _policy_file(flow, "json"))
        report = _report(raw, flow, "receiver")
        flow.counted_bytes, flow.counted_s = report["received_bytes"], report["receiving_s"]

    def failure(self, flow: Flow, end: End, code: int, raw: Path) -> str:
        for one in ("sender", "receiver"):  # The sender knows best why there is no connection.
            _report(raw, flow, one)
        return super().failure(flow, end, code, raw)


def _rights(traffic: Quic, own: programs.Flow) -> Rights | None:
    """Return the rights of a sender with a policy, which a user wrote; None: it has none.

    Its files are named one by one: root opens others in their folder.
    """
    if (file := traffic.located_policy()) is None:
        return None
    certificate = str(own.folder / programs.CERTIFICATE)
    reads = (str(file), programs.path_of_quic_flow(), certificate)
    writes = programs.writes_of_sender(own)
    return Rights(reads, writes, keeps_network=True, socket_families=_SOCKETS)


def _policy_file(flow: Flow, kind: str) -> str:
    return f"{programs.FOLDER}/{programs.name_of(flow.id, 'sender', f'policy.{kind}')}"


def _report_file(flow: Flow, end: End) -> str:
    return f"{programs.FOLDER}/{programs.name_of(flow.id, end, 'json')}"


def _report(raw: Path, flow: Flow, end: End) -> dict[str, Any]:
    """Return the report of one end. Raises RunFailed if it is incomplete or has an error."""
    return read_report(raw / _report_file(flow, end), f"flow {flow.id}, {end}")


QUIC = QuicDriver()
