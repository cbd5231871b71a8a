# SPDX-License-Identifier: Apache-2.0
"""The optional capture of GTP-U between gNB and UPF (N3)."""

from __future__ import annotations

import signal
from pathlib import Path

from ccu.host import programs
from ccu.testbeds import Site
from ccu.testbeds.oai.configs import GTP_U_PORT
from ccu.testbeds.oai.services import upf_of
from ccu.testbeds.oai.stack import Stack

# Outer IPv4, UDP and GTP-U with its extension header, then IPv4 and TCP with all options.
SNAPLEN_BYTES = 180


def n3_file(site: Site) -> Path:
    """Return the file of the capture."""
    return site.raw / "n3.pcap"


class N3Capture:
    """A tcpdump in the UPF's network, into raw/n3.pcap."""

    def __init__(self, site: Site, stack: Stack) -> None:
        self._site = site
        self.file = n3_file(site)
        name = stack.namespace_of(upf_of(stack.plan))
        command = [programs.require("ip"), "netns", "exec", name, programs.require("tcpdump")]
        command += ["-n", "-i", "any", "-s", str(SNAPLEN_BYTES), "--time-stamp-precision=nano"]
        command += ["-Z", "root", "-w", str(self.file), f"udp port {GTP_U_PORT}"]
        self._process = site.supervisor.start("tcpdump-n3", command, stage="capture")
        site.supervisor.wait_for(
            self._process, lambda: "listening on" in self._process.log.read_text(), "listening"
        )

    def finish(self) -> None:
        self._site.supervisor.stop(self._process, signal.SIGINT)
