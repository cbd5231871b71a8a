# SPDX-License-Identifier: Apache-2.0
"""The commands of iperf3 for a flow, and what its reports say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds.flow import Flow

_UDP_HEADERS_BYTES = 28


def server(program: str, flow: Flow, address: str) -> list[str]:
    """Return the command of the end that receives at `address`, for one connection."""
    return [program, "-s", "-1", "-J", "-B", address, "-p", str(flow.listening_port)]


def client(program: str, experiment: Experiment, flow: Flow, source: str, target: str) -> list[str]:
    """Return the command of the end that sends, from one address to the other."""
    traffic = experiment.traffic
    command = [program, "-c", target, "-p", str(flow.listening_port), "-J"]
    command += ["-B", source, "--cport", str(flow.sending_port)]
    if traffic.volume_bytes is not None:
        command += ["-n", str(traffic.volume_bytes)]
    else:
        command += ["-t", str(flow.duration_s)]
    if traffic.kind == "udp":
        assert traffic.rate_bps is not None
        length = str(datagram_bytes(experiment))
        return [*command, "-u", "-b", f"{traffic.rate_bps:.0f}", "-l", length]
    return [*command, "-C", flow.cc]


def datagram_bytes(experiment: Experiment) -> int:
    """Return the payload of a UDP datagram that fills a packet, in bytes."""
    return experiment.mtu_bytes - _UDP_HEADERS_BYTES


def report(file: Path, name: str) -> dict[str, Any]:
    """Return the report of one end. Raises RunFailed if it is incomplete or reports an error."""
    try:
        content: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise RunFailed("traffic", f"{name}: the report is incomplete ({error})") from None
    if "error" in content:
        raise RunFailed("traffic", f"{name}: {content['error']}")
    return content
