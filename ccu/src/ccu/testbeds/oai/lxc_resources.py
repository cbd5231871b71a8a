# SPDX-License-Identifier: Apache-2.0
"""The resources of the LXC runtime: containers, and the bridges between them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pyroute2 import IPRoute

from ccu.host import programs
from ccu.testbeds.oai.oci_images import FOLDER

_BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


@dataclass(frozen=True)
class LxcContainer:
    """A container of LXC with its overlay and its log."""

    kind: ClassVar[str] = "lxc-container"
    name: str

    def remove(self) -> list[str]:
        folder = FOLDER / self.name
        if not folder.exists():
            return []
        stopped = programs.shielded(["lxc-stop", "-P", FOLDER, "-n", self.name, "-k"])
        if (pid := pid_of(self.name)) is not None:  # Without its folder nobody would find it.
            raise OSError(stopped.stderr.strip() or f"process {pid} still runs")
        shutil.rmtree(folder)
        return [f"removed container {self.name}"]


def pid_of(container: str) -> int | None:
    """Return the pid of a container's first process; None if it does not run."""
    completed = programs.shielded(["lxc-info", "-P", FOLDER, "-n", container, "-pH"])
    text = completed.stdout.strip()
    return int(text) if completed.returncode == 0 and text.isdigit() and text != "-1" else None


@dataclass(frozen=True)
class Bridge:
    """A bridge of this machine that containers are attached to."""

    kind: ClassVar[str] = "bridge"
    name: str

    def remove(self) -> list[str]:
        with IPRoute() as ip:
            if not (indices := ip.link_lookup(ifname=self.name)):
                return []
            _filter_rule("-D", self.name)
            ip.link("del", index=indices[0])
        return [f"removed bridge {self.name}"]


def let_frames_cross(bridge: str) -> None:
    """Let frames cross our bridge if the firewall filters bridged frames, until it is removed."""
    _filter_rule("-I", bridge)


def _filter_rule(action: str, bridge: str) -> None:
    """Add or delete the rule, needed when br_netfilter is loaded, as with Docker, which drops
    frames of other bridges."""
    if not _BRIDGE_FILTER.exists() or _BRIDGE_FILTER.read_text().strip() != "1":
        return
    rule = ["FORWARD", "-i", bridge, "-o", bridge, "-j", "ACCEPT"]
    if iptables := programs.find("iptables"):
        programs.shielded([iptables, "-w", action, *rule])
