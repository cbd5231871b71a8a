# SPDX-License-Identifier: Apache-2.0
"""The traffic between a testbed's hosts: iperf3's, and that of the user's own sender programs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ccu.host.supervisor import Process
from ccu.runs import iperf3
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site, Testbed, sender_program
from ccu.testbeds.flow import Flow


def plan(experiment: Experiment) -> Sequence[Flow]:
    """Return the flows in the experiment's order, in each of its directions."""
    return iperf3.plan(experiment)


def listen(site: Site, testbed: Testbed, flows: Sequence[Flow]) -> None:
    """Start the receiver of each flow. Nothing says when a program listens: it gets a second."""
    iperf3.listen(site, testbed, [flow for flow in flows if flow.program is None])
    own = [flow for flow in flows if flow.program is not None]
    for flow in own:
        role = "receiver" if flow.direction == flows[0].direction else "sender"
        flow.counted_in = site.raw / f"{role}.pcap"
        flow.receiver = _start(site, testbed, flow, "receiver")
    if own:
        time.sleep(sender_program.LISTENING_S)


def connect(site: Site, testbed: Testbed, flow: Flow) -> None:
    """Start the end that sends."""
    if flow.program is None:
        iperf3.connect(site, testbed, flow)
    else:
        flow.client = _start(site, testbed, flow, "sender")


def look(site: Site, testbed: Testbed, flow: Flow, started_s: float) -> None:
    """Check the flow; programs are ended by their time. Raises RunFailed."""
    if flow.program is None:
        iperf3.look(site, testbed, flow, started_s)


def finished(flow: Flow) -> bool:
    """Return whether both endpoints have ended."""
    return iperf3.finished(flow)


def problems(flow: Flow) -> list[str]:
    """Return no problems: the exit codes report them."""
    return iperf3.problems(flow)


def received_bytes(flow: Flow) -> int:
    """Return the payload that has arrived. Raises RunFailed if nothing has, or by iperf3's
    report."""
    if flow.program is None:
        return iperf3.received_bytes(flow)
    assert flow.counted_in is not None
    assert flow.receiver_address is not None
    return sender_program.count(flow, flow.counted_in, flow.receiver_address)


def _start(site: Site, testbed: Testbed, flow: Flow, end: sender_program.End) -> Process:
    sending, receiving = flow.sender_host(testbed), flow.receiver_host(testbed)
    flow.receiver_address = flow.address(testbed, receiving)
    source = flow.address(testbed, sending)
    logs = site.raw.resolve() / "logs"
    command = sender_program.commands(flow, logs, source, flow.receiver_address)[end]
    host = sending if end == "sender" else receiving
    name = f"{flow.id}-{end}"
    return site.supervisor.start(
        name, testbed.command(host, command), stage="traffic", lasting=False
    )
