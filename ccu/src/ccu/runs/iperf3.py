# SPDX-License-Identifier: Apache-2.0
"""The traffic of iperf3: a client that sends and a server that receives, for each flow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from ccu.host import programs
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site, Testbed, iperf3_commands
from ccu.testbeds.flow import Flow

# For the test's end and the exchange of results over a full queue, with a margin.
_PATIENCE_S = 20.0


def plan(experiment: Experiment) -> Sequence[Flow]:
    """Return the flows in the experiment's order, in each of its directions."""
    plans = [
        (item, item.ue or index % experiment.ues + 1) for index, item in enumerate(experiment.flows)
    ]
    pairs = [(item, ue, direction) for item, ue in plans for direction in experiment.directions]
    return [
        Flow(
            number,
            item.cc,
            direction,
            item.start_s,
            round(experiment.duration_s - item.start_s),
            ue,
            item.program,
        )
        for number, (item, ue, direction) in enumerate(pairs)
    ]


def listen(site: Site, testbed: Testbed, flows: Sequence[Flow]) -> None:
    """Start an iperf3 server for each flow, and wait until it listens."""
    for flow in flows:
        host = flow.receiver_host(testbed)
        address = flow.address(testbed, host)
        arguments = iperf3_commands.server(programs.require("iperf3"), flow, address)
        flow.receiver = site.supervisor.start(
            f"iperf3-{flow.id}-server",
            testbed.command(host, arguments),
            stage="traffic",
            output=site.raw / f"iperf3-{flow.id}-server.json",
            lasting=False,
        )
    for flow in flows:
        assert flow.receiver is not None
        host, port = flow.receiver_host(testbed), flow.listening_port
        site.supervisor.wait_for(
            flow.receiver,
            partial(testbed.listens, host, port),
            f"listening on port {port}",
        )


def connect(site: Site, testbed: Testbed, flow: Flow) -> None:
    """Start an iperf3 client, which sends."""
    sender = flow.sender_host(testbed)
    target = flow.address(testbed, flow.receiver_host(testbed))
    source = flow.address(testbed, sender)
    program = programs.require("iperf3")
    arguments = iperf3_commands.client(program, site.experiment, flow, source, target)
    flow.client = site.supervisor.start(
        f"iperf3-{flow.id}-client",
        testbed.command(sender, arguments),
        stage="traffic",
        output=site.raw / f"iperf3-{flow.id}-client.json",
        lasting=False,
    )


def look(site: Site, testbed: Testbed, flow: Flow, started_s: float) -> None:
    """Check the flow; `started_s` is on the monotonic clock. Raises RunFailed."""
    if flow.client is None or flow.client.ended:
        return
    if site.experiment.traffic.kind == "tcp" and flow.wrong_cc():
        read_back(testbed, flow)
    patience_s = _PATIENCE_S if site.experiment.traffic.volume_bytes is None else 0.0
    if time.monotonic() > started_s + flow.duration_s + patience_s:
        raise RunFailed("traffic", too_long(site.experiment, flow))


def read_back(testbed: Testbed, flow: Flow) -> None:
    """Ask the kernel for the congestion control of the flow.

    iperf3 sets it after it has connected: an early answer may be the host's default.
    """
    reported = testbed.congestion_control(flow.sender_host(testbed), flow.sending_port)
    flow.cc_read_back = reported or flow.cc_read_back


def too_long(experiment: Experiment, flow: Flow) -> str:
    volume = experiment.traffic.volume_bytes
    if volume is None:
        return f"flow {flow.id} timed out"
    return (
        f"flow {flow.id} has not sent its {volume / 1e6:g} MB within {flow.duration_s} s. "
        "Choose a longer --duration"
    )


def finished(flow: Flow) -> bool:
    """Return whether both endpoints have ended."""
    return all(process is not None and process.ended for process in (flow.client, flow.receiver))


def problems(_flow: Flow) -> list[str]:
    """Return no problems: iperf3 reports them by its exit code."""
    return []


def received_bytes(flow: Flow) -> int:
    """Return the receiver's count of payload bytes. Raises RunFailed if iperf3 reports an error."""
    assert flow.receiver is not None
    assert flow.client is not None
    for process in (flow.client, flow.receiver):
        report = iperf3_commands.report(process.output, process.name)
    # With UDP, the "sum" of iperf3 3.12 is that of the sender, which here sent nothing.
    return int(report["end"]["sum_received"]["bytes"])
