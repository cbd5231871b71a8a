# SPDX-License-Identifier: Apache-2.0
"""A host as a network namespace of this machine: its settings, each verified with the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pyroute2 import DiagSocket, IPRoute, netns
from pyroute2.ethtool import Ethtool

from ccu.host import listening, processes
from ccu.host.processes import Identity
from ccu.spec.errors import RunFailed

_AF_INET = 2
_INET_DIAG_CONG = 1 << 3  # linux/inet_diag.h: bit of the attribute after INFO and VEGASINFO
_OFFLOADS = {
    "tx-checksum-ip-generic": "tx-checksum",
    "tx-scatter-gather": "scatter-gather",
    "tx-tcp-segmentation": "tso",
    "tx-udp-segmentation": "udp-gso",
    "rx-gro": "gro",
    "tx-generic-segmentation": "gso",
}


@dataclass(frozen=True)
class AttachedNetwork:
    """A name given to the network of a container, whose programs are not ours."""

    kind: ClassVar[str] = "attached-network"
    name: str

    def remove(self) -> list[str]:
        if self.name not in netns.listnetns():
            return []
        netns.remove(self.name)
        return [f"removed network namespace {self.name}"]


@dataclass(frozen=True)
class Namespace(AttachedNetwork):
    """A network namespace that ccu made, with every program that runs in it."""

    kind: ClassVar[str] = "namespace"

    def remove(self) -> list[str]:
        inhabitants = _inhabitants(self.name)
        processes.end(inhabitants)
        pids = ", ".join(str(who.pid) for who in inhabitants)
        ended = [f"ended processes {pids} in {self.name}"] if inhabitants else []
        return ended + super().remove()


def _inhabitants(name: str) -> list[Identity]:
    """Return the processes in the network namespace `name`."""
    try:
        wanted = Path("/run/netns", name).stat()
    except OSError:
        return []
    processes_inside = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            there = (entry / "ns" / "net").stat()
            if (there.st_ino, there.st_dev) == (wanted.st_ino, wanted.st_dev):
                processes_inside.append(processes.identify(int(entry.name)))
    return [who for who in processes_inside if who is not None]


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Move this thread to the network namespace `name`."""
    netns.pushns(name)
    try:
        yield
    finally:
        netns.popns()


def set_sysctls(name: str, wanted: Mapping[str, str]) -> dict[str, str]:
    """Write the namespace's sysctls; return them as reported by the kernel. Raises RunFailed."""
    with inside(name):
        for key, value in wanted.items():
            file = Path("/proc/sys", *key.split("."))
            try:
                file.write_text(value)
                reported = " ".join(file.read_text().split())
            except OSError as error:
                raise RunFailed("testbed", f"sysctl {key}={value}: {error.strerror}") from None
            if reported != value:
                raise RunFailed("testbed", f"sysctl {key} is {reported} after {value} was written")
    return dict(wanted)


def set_address(name: str, device: str, address: str, peer: str, mtu_bytes: int) -> None:
    """Set the device's address on a point-to-point subnet, which adds the route to `peer`."""
    with IPRoute(netns=name) as ip:
        index = ip.link_lookup(ifname=device)[0]
        ip.link("set", index=index, mtu=mtu_bytes, state="up")
        ip.addr("add", index=index, address=peer, local=address, prefixlen=32)


def add_route(name: str, device: str, address: str) -> None:
    """Route packets to `address` through the device."""
    with IPRoute(netns=name) as ip:
        ip.route("add", dst=f"{address}/32", oif=ip.link_lookup(ifname=device)[0])


def send_from(name: str, address: str, device: str, peer: str, table: int) -> None:
    """Route packets from `address` to `peer` through the device, before all other routes."""
    with IPRoute(netns=name) as ip:
        index = ip.link_lookup(ifname=device)[0]
        ip.route("add", dst=f"{peer}/32", oif=index, prefsrc=address, table=table)
        ip.rule("add", src=f"{address}/32", table=table)


def set_mtu(name: str, device: str, mtu_bytes: int) -> None:
    """Set the device's MTU. Raises RunFailed if the kernel reports another afterwards."""
    with IPRoute(netns=name) as ip:
        index = ip.link_lookup(ifname=device)[0]
        ip.link("set", index=index, mtu=mtu_bytes)
        reported = next(iter(ip.get_links(index))).get("mtu")
    if reported != mtu_bytes:
        raise RunFailed("testbed", f"{device}: MTU is {reported} after {mtu_bytes} was set")


def describe(name: str, device: str) -> dict[str, Any]:
    """Return MTU, queue length, address and offloads as reported by the kernel."""
    with inside(name), IPRoute() as ip:
        index = ip.link_lookup(ifname=device)[0]
        address = next(iter(ip.get_addr(index=index, family=_AF_INET)))
        return _described(ip, device, address.get("local"), name)


def describe_here(device: str, address: str) -> dict[str, Any]:
    """Describe a device of this machine itself, as `describe` does."""
    with IPRoute() as ip:
        return _described(ip, device, address, None)


def _described(ip: IPRoute, device: str, address: str, name: str | None) -> dict[str, Any]:
    link = next(iter(ip.get_links(ip.link_lookup(ifname=device)[0])))
    return {
        "address": address,
        "interface": device,
        "netns": name,
        "mtu_bytes": link.get("mtu"),
        "txqueuelen": link.get("txqlen"),
        "offloads": _offloads(device),
    }


def _offloads(device: str) -> dict[str, bool]:
    ethtool = Ethtool()
    try:
        features = ethtool.get_features(device).features
    finally:
        ethtool.close()
    return {
        ours: features[theirs].enable for theirs, ours in _OFFLOADS.items() if theirs in features
    }


def congestion_control(name: str, port: int) -> str | None:
    """Return the congestion control of the established connection with local `port` (inet_diag)."""
    with inside(name), DiagSocket() as diag:
        diag.bind()
        for sock in diag.get_sock_stats(family=_AF_INET, extensions=_INET_DIAG_CONG):
            if sock["idiag_sport"] == port and (algorithm := sock.get_attr("INET_DIAG_CONG")):
                return str(algorithm)
    return None


def listens(name: str, port: int) -> bool:
    """Return whether a TCP socket of the namespace listens on `port`."""
    with inside(name):
        return bool(listening.addresses(port))
