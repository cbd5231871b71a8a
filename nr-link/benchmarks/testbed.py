# SPDX-License-Identifier: Apache-2.0
"""A testbed of two hosts, network namespaces of this machine, with a link between them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER, UE = "10.202.0.1", "10.202.0.2"
_BUFFERS = "4096 1000000 268435456"
"""The minimum, initial and maximum socket buffer in bytes: 20 ms at 10 Gbit/s are 25 MB."""


@dataclass(frozen=True)
class Measured:
    """The results of a run."""

    mbps: dict[str, float]
    """The received TCP payload, by direction."""
    summary: dict[str, Any]
    """The summary of nr-link."""
    rss_mb: float
    """The largest resident memory of nr-link."""
    rtt_ms: float | None
    """The mean of the sender's smoothed RTT."""


@dataclass
class Testbed:
    """The namespaces, and a folder for files."""

    server: str
    ue: str
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def on(self, netns: str, *command: str) -> str:
        """Run a command on a host and return its output."""
        return run("ip", "netns", "exec", netns, *command)

    def start(self, netns: str | None, *command: str) -> subprocess.Popen[str]:
        """Start a command on a host, or outside; it ends with the testbed."""
        where = ["ip", "netns", "exec", netns] if netns else []
        process = subprocess.Popen([*where, *command], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def address_devices(self) -> None:
        """Set the addresses of n6 and ue1, which must exist."""
        for netns, device, own, peer in (
            (self.server, "n6", SERVER, UE),
            (self.ue, "ue1", UE, SERVER),
        ):
            run("ip", "-n", netns, "address", "add", own, "peer", peer, "dev", device)

    def iperf3(self, seconds: float, *more: str, port: int = 5201) -> dict[str, Any]:
        """Return the report of a transfer from the server to the UE."""
        self.start(self.ue, "iperf3", "-s", "-1", "-p", str(port))
        while not self.on(self.ue, "ss", "-tlnH", f"sport = {port}"):
            time.sleep(0.02)
        client = ("iperf3", "-c", UE, "-p", str(port), "-t", str(seconds), "-J", *more)
        report: dict[str, Any] = json.loads(self.on(self.server, *client))
        return report

    def measure(
        self, nr_link: Path, config: dict[str, Any], seconds: float, *more: str
    ) -> Measured:
        """Run nr-link with this configuration, and iperf3 over it."""
        with self._running(nr_link, config, [{"name": "ue1"}]) as link:
            self.address_devices()
            report = self.iperf3(seconds, *more)
            rss_mb = _largest_rss_mb(link.pid)
        return Measured(
            mbps=_rates(report),
            summary=self._summary(),
            rss_mb=rss_mb,
            rtt_ms=_rtt_ms(report),
        )

    def measure_many(
        self, nr_link: Path, config: dict[str, Any], seconds: float, ues: int
    ) -> Measured:
        """Measure a downlink flow to each of many UEs, which are all on one host."""
        addresses = {f"ue{number}": f"10.202.1.{number}" for number in range(1, ues + 1)}
        devices = [
            {"name": device, "addresses": [address]} for device, address in addresses.items()
        ]
        with self._running(nr_link, config, devices) as link:
            run("ip", "-n", self.server, "address", "add", f"{SERVER}/16", "dev", "n6")
            for table, (device, address) in enumerate(addresses.items(), start=1000):
                self._add_ue(device, address, str(table))
            for address in addresses.values():
                self.start(self.ue, "iperf3", "-s", "-1", "-B", address)
            listening = ("ss", "-tlnH", "sport = 5201")
            while self.on(self.ue, *listening).count("\n") < ues:
                time.sleep(0.1)
            clients = [
                self.start(self.server, "iperf3", "-c", address, "-t", str(seconds), "-J")
                for address in addresses.values()
            ]
            reports = [json.loads(client.communicate()[0]) for client in clients]
            rss_mb = _largest_rss_mb(link.pid)
        mbps = sum(_rates(report)["dl"] for report in reports)
        return Measured({"dl": mbps}, self._summary(), rss_mb, rtt_ms=None)

    def _add_ue(self, device: str, address: str, table: str) -> None:
        """Add a UE, whose packets leave by its own device."""
        ip = ("ip", "-n", self.ue)
        run(*ip, "address", "add", f"{address}/32", "dev", device)
        run(*ip, "route", "add", "default", "dev", device, "table", table)
        run(*ip, "rule", "add", "from", address, "table", table)

    @contextmanager
    def _running(
        self, nr_link: Path, config: dict[str, Any], ues: list[dict[str, Any]]
    ) -> Iterator[subprocess.Popen[str]]:
        devices = {
            "core": {"name": "n6", "netns": self.server},
            "ue": [{**ue, "netns": self.ue} for ue in ues],
        }
        output = {"mac": "mac.csv", "link": "link.csv", "summary": "summary.json"}
        file = self.folder / "link.yaml"
        file.write_text(json.dumps({**config, "devices": devices, "output": output}))
        link = self.start(None, str(nr_link), "run", "--config", str(file))
        assert link.stdout is not None
        if not link.stdout.readline():
            raise SystemExit("nr-link did not start")
        yield link
        link.send_signal(signal.SIGTERM)
        link.wait(10)

    def _summary(self) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return summary


@contextmanager
def testbed() -> Iterator[Testbed]:
    """Make a testbed, and remove it with all programs in it."""
    with tempfile.TemporaryDirectory() as folder:
        bed = Testbed(f"nrb-{os.getpid()}-server", f"nrb-{os.getpid()}-ue", Path(folder))
        try:
            for netns in (bed.server, bed.ue):
                run("ip", "netns", "add", netns)
                for key in ("tcp_wmem", "tcp_rmem"):
                    bed.on(netns, "sysctl", "-qw", f"net.ipv4.{key}={_BUFFERS}")
            yield bed
        finally:
            for process in bed.processes:
                process.kill()
                process.wait()
            for netns in (bed.server, bed.ue):
                subprocess.run(["ip", "netns", "delete", netns], check=False)


def run(*command: str) -> str:
    """Run a command and return its output; its error ends the benchmark."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def _rates(report: dict[str, Any]) -> dict[str, float]:
    ends = {"dl": "sum_received", "ul": "sum_received_bidir_reverse"}
    end = report["end"]
    return {side: end[key]["bits_per_second"] * 1e-6 for side, key in ends.items() if key in end}


def _rtt_ms(report: dict[str, Any]) -> float | None:
    means = [stream["sender"].get("mean_rtt") for stream in report["end"]["streams"]]
    return means[0] / 1000 if means and means[0] else None


def _largest_rss_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(match[1]) / 1000 if match else float("nan")
