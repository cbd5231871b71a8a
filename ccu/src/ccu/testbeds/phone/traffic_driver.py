# SPDX-License-Identifier: Apache-2.0
"""The kind of traffic of a phone, which makes the connections itself.

Our sender is on this machine; on the phone is toybox's nc, which every phone has, iperf3, or a
program that the user starts manually (docs/phone.md).
"""

from __future__ import annotations

import json
import secrets
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from ccu.host.setup import Setup
from ccu.host.supervisor import Process
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction, Experiment
from ccu.spec.flow_plan import FlowPlan
from ccu.spec.traffic import TrafficOptions
from ccu.testbeds.phone import instructions, phones_iperf3
from ccu.testbeds.phone.address import plain
from ccu.testbeds.phone.flow import PhoneFlow, flow_of
from ccu.testbeds.phone.options import phone_options
from ccu.traffic import RunningHosts, TrafficDriver
from ccu.traffic.flow import Flow, FlowHosts

_SENDER = f"{__package__}.sender"
_CONFIG, _EVENTS = "phone/sender-config.json", "phone/sender.jsonl"
_CONNECT_S = 20.0
MANUAL_START_S = 180.0
"""The time that the user of a phone without adb has to start the transfer."""
# For the sender's drain, and the answer's delay.
_PATIENCE_S = 15.0


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
        return flow_of(experiment, plan, number, direction)

    def listen(self, site: Setup, testbed: RunningHosts, flows: Sequence[Flow]) -> None:
        """Start the sender, and wait until it listens; print instructions if the user must
        connect."""
        settings = phone_options(site.experiment)
        server, ue = testbed.hosts["server"], testbed.hosts["ue"]
        token = secrets.token_hex(16)
        ours = [_own(flow) for flow in flows]
        for flow in ours:
            flow.iperf3 = phones_iperf3.of(site, testbed, flow)
        config = {
            "address": server["listens"],
            "token": token,
            "phone_addresses": [plain(settings.phone_address)] if settings.phone_address else [],
            "max_bytes": settings.max_bytes,
            "deadline_s": site.experiment.duration_s + MANUAL_START_S + _PATIENCE_S,
            "flows": [_sender_config(site, flow) for flow in ours],
        }
        file = site.raw / _CONFIG
        file.parent.mkdir(exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(json.dumps(config))
        process = site.supervisor.start(
            "phone-sender",
            [sys.executable, "-I", "-m", _SENDER, str(file)],
            stage="traffic",
            output=site.raw / _EVENTS,
            lasting=False,
        )
        site.supervisor.wait_ready_event(process)
        for flow in ours:
            flow.receiver, flow.events = process, process.output
            flow.reached_at, flow.phones_cc = server["reached_at"], ue.get("congestion_control")
            flow.script = _script(flow, token)
        if not settings.has_shell:
            instructions.show(ours, token)

    def connect(self, site: Setup, testbed: RunningHosts, flow: Flow) -> None:
        """Start the phone's program, unless the user does."""
        own = _own(flow)
        if not own.is_manual:
            own.client = site.supervisor.start(
                f"phone-{own.id}",
                testbed.command("ue", [own.script]),
                stage="phone",
                lasting=False,
                output=phones_iperf3.output(site, own.id) if own.iperf3 else None,
            )

    def look(
        self,
        site: Setup,  # noqa: ARG002
        testbed: RunningHosts,  # noqa: ARG002
        flow: Flow,
        started_s: float,
    ) -> None:
        """Read the sender's events. Raises RunFailed if the flow cannot succeed."""
        own = _own(flow)
        if own.events is None:
            return
        _read_events(own)
        elapsed_s = time.monotonic() - started_s
        if own.served is None:
            if elapsed_s > (MANUAL_START_S if own.is_manual else _CONNECT_S) or _ended(own.client):
                raise RunFailed("traffic", _unreachable(own) + _iperf3_error(own))
        elif own.done is None:
            if elapsed_s > MANUAL_START_S + own.duration_s + _PATIENCE_S:
                raise RunFailed("traffic", f"flow {own.id} timed out")
        elif own.left_early:
            raise RunFailed(
                "traffic",
                f"the phone ended flow {own.id} after {own.done['lasted_s']:.1f} s of "
                f"{own.duration_s} s. Check that it is connected, and in coverage",
            )

    def finished(self, flow: Flow) -> bool:
        own = _own(flow)
        # The phone's nc waits for its own `sleep`, without further output; iperf3 has its results.
        return own.done is not None and (own.iperf3 is None or _ended(own.client))

    def problems(self, flow: Flow) -> list[str]:
        own = _own(flow)
        if own.done is None or own.done["why"] != "bytes":
            return []
        return [
            f"flow {own.id} ended after {own.done['lasted_s']:.1f} s of {own.duration_s} s, as "
            "--max-bytes were reached"
        ]

    def read_result(self, flow: Flow, hosts: FlowHosts, raw: Path) -> None:  # noqa: ARG002
        """Take the payload bytes that have arrived, by acknowledgements or by our own count."""
        flow.counted_bytes = _own(flow).received_bytes


def _own(flow: Flow) -> PhoneFlow:
    assert isinstance(flow, PhoneFlow)  # `PhoneTraffic.flow` has made it.
    return flow


def _sender_config(site: Setup, flow: PhoneFlow) -> dict[str, Any]:
    return {
        "iperf3_port": phones_iperf3.serve(site, flow.id) if flow.iperf3 else None,
        "id": flow.id,
        "port": flow.port,
        "direction": flow.direction,
        "cc": flow.cc if flow.direction == "dl" else None,
        "duration_s": flow.duration_s,
    }


def _script(flow: PhoneFlow, token: str) -> str:
    """Return the script for the phone's shell: the token first; the pipe stays open for the
    flow."""
    if flow.iperf3:
        return phones_iperf3.script(flow, flow.iperf3, token)
    target = f"nc {shlex.quote(flow.reached_at)} {flow.port}"
    if flow.direction == "dl":
        source, sink = f"echo {token}; sleep {flow.duration_s + 1}", " > /dev/null"
    else:
        source, sink = f"echo {token}; exec cat /dev/zero", ""
    return f"({source}) | {target}{sink}; echo nc ended with $?"


def _ended(process: Process | None) -> bool:
    return process is not None and process.ended


def _read_events(flow: PhoneFlow) -> None:
    assert flow.events is not None
    for line in flow.events.read_text().splitlines(keepends=True):
        if line.endswith("\n") and f'"{flow.id}"' in line:
            event = json.loads(line)
            if event.get("flow") == flow.id and event["event"] == "served":
                flow.served = event
                flow.cc_read_back = event["cc"] if flow.direction == "dl" else flow.phones_cc
            elif event.get("flow") == flow.id and event["event"] == "done":
                flow.done = event


def _unreachable(flow: PhoneFlow) -> str:
    rule = "a router has to forward it"
    if ":" in flow.reached_at:
        rule = "a router has to admit it, also with IPv6"
    return (
        f"the phone cannot connect to {flow.reached_at} port {flow.port}. Open TCP port "
        f"{flow.port} (the machine's and the provider's firewall; {rule}), "
        "and give the public address: --server-address"
    )


def _iperf3_error(flow: PhoneFlow) -> str:
    error = flow.client and flow.iperf3 and phones_iperf3.error_in(flow.client.output)
    return f"; the phone's iperf3 reports: {error} (or use --phone-load nc)" if error else ""


PHONE = PhoneTraffic()
