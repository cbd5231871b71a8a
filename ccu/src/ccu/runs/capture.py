# SPDX-License-Identifier: Apache-2.0
"""Packet captures by tcpdump and socket samples by socket-sampler, on the hosts of a testbed."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ccu.host import programs
from ccu.host.supervisor import Process
from ccu.spec.errors import RunFailed
from ccu.testbeds import Host, Site, Testbed
from ccu.traffic.flow import Flow

# The kernel's buffer while tcpdump waits for the CPU: 2 s at 250 000 packets per second.
_BUFFER_KIB = 65_536
# libpcap reads a block of the ring when it is full or 1 s old; SIGINT discards unread packets.
_RING_AGE_S = 1.2


@dataclass
class Capture:
    host: Host
    role: str
    name: str
    """The role; if several hosts have it, further ones add the host's name."""
    snaplen_bytes: int
    process: Process

    def record(self) -> dict[str, Any]:
        """Return the entry of run.json; drops are null until tcpdump has reported them."""
        return {
            "host": self.host,
            "role": self.role,
            "file": f"raw/{self.name}.pcap",
            "snaplen_bytes": self.snaplen_bytes,
            "packets_dropped_count": dropped_by_kernel(self.process.log.read_text())
            if self.process.log.exists()
            else None,
        }


def dropped_by_kernel(log: str) -> int | None:
    match = re.search(r"^(\d+) packets? dropped by kernel", log, re.MULTILINE)
    return int(match[1]) if match else None


def start_captures(site: Site, testbed: Testbed, flows: Sequence[Flow]) -> list[Capture]:
    """Start tcpdump on the server and on every UE host that has a flow.

    A host without an interface that can be captured is left out.
    """
    ues = list(dict.fromkeys(testbed.ue_host(flow.ue) for flow in flows))
    server_sends = flows[0].direction == "dl"
    captures = []
    for hosts, role in (
        (["server"], "sender" if server_sends else "receiver"),
        (ues, "receiver" if server_sends else "sender"),
    ):
        for host in hosts:
            if testbed.hosts[host]["interface"] is None:
                continue
            name = role if host == hosts[0] else f"{role}-{host}"
            process = _tcpdump(site, testbed, host, name)
            captures.append(Capture(host, role, name, site.experiment.snaplen_bytes, process))
    for capture in captures:
        site.supervisor.wait_for(capture.process, partial(_listens, capture.process), "listening")
    return captures


def _tcpdump(site: Site, testbed: Testbed, host: Host, name: str) -> Process:
    interface = testbed.hosts[host]["interface"]
    snaplen = str(site.experiment.snaplen_bytes)
    arguments = [programs.require("tcpdump"), "-n", "-i", interface, "-s", snaplen]
    # -Z root: Debian's tcpdump would switch to user tcpdump, who cannot write to the run directory.
    arguments += ["-B", str(_BUFFER_KIB), "--time-stamp-precision=nano", "-Z", "root"]
    arguments += ["-w", str(site.raw / f"{name}.pcap")]
    if only := testbed.hosts[host].get("capture_filter"):
        arguments.append(only)
    return site.supervisor.start(
        f"tcpdump-{name}", testbed.command(host, arguments), stage="capture"
    )


def _listens(tcpdump: Process) -> bool:
    return "listening on" in tcpdump.log.read_text()


def stop_captures(site: Site, captures: Sequence[Capture]) -> None:
    """End tcpdump by SIGINT, at which it reports the kernel's drops. Raises RunFailed."""
    if captures:
        time.sleep(_RING_AGE_S)
    for capture in captures:
        code = site.supervisor.stop(capture.process, signal.SIGINT)
        if code != 0 or capture.record()["packets_dropped_count"] is None:
            output = capture.process.log.read_text().strip() if capture.process.log.exists() else ""
            raise RunFailed("capture", f"tcpdump ended with code {code}: {output}")


def start_sampling(
    site: Site, testbed: Testbed, ports: dict[Host, list[int]]
) -> list[dict[str, Any]]:
    """Start socket-sampler on every sending host, for its data connections; return run.json
    entries."""
    interval_ms = site.experiment.socket_interval_ms
    records = []
    for host, of_host in ports.items():
        if testbed.hosts[host]["interface"] is None:
            continue
        file = f"sockets-{host}.pcap"
        arguments = [programs.require("socket-sampler"), "--interval", f"{interval_ms:g}ms"]
        arguments += ["--output", str(site.raw / file)]
        arguments += [item for port in of_host for item in ("--port", str(port))]
        sampler = site.supervisor.start(
            f"socket-sampler-{host}", testbed.command(host, arguments), stage="socket samples"
        )
        site.supervisor.wait_ready_event(sampler)
        records.append({"host": host, "file": f"raw/{file}", "interval_ms": interval_ms})
    return records
