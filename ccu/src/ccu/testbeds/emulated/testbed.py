# SPDX-License-Identifier: Apache-2.0
"""Two hosts on this machine, network namespaces, with nr-link in real time between them."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyroute2 import netns

from ccu.host import namespace, programs
from ccu.host.namespace import Namespace
from ccu.host.supervisor import Process
from ccu.scenarios import link_config
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction
from ccu.spec.socket_buffers import socket_buffer_sysctls
from ccu.testbeds import Host, Site
from ccu.testbeds.mac_csv import delivered_bytes
from ccu.testbeds.namespaces import NamespaceHosts

_ADDRESSES: dict[Host, str] = {"server": "10.45.0.1", "ue": link_config.ue_address(1)}
_DEVICES: dict[Host, str] = {"server": link_config.CORE_DEVICE, "ue": link_config.ue_device(1)}
_SYSCTLS = {
    # Or a flow would begin with the ssthresh of an earlier one (tcp(7)).
    "net.ipv4.tcp_no_metrics_save": "1",
    # Router solicitations and the like are not traffic of the experiment.
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}


@contextmanager
def up(site: Site) -> Iterator[Emulated]:
    """The path, from namespaces to addresses; all of it is gone afterwards."""
    names: dict[Host, str] = {
        host: f"ccu-{site.resources.run_id}-{host}" for host in ("server", "ue")
    }
    namespaces = [Namespace(name) for name in names.values()]
    site.resources.register(*namespaces)
    try:
        for name in names.values():
            netns.create(name)
        wanted = _SYSCTLS | socket_buffer_sysctls(site.experiment.socket_buffer)
        wanted |= {"net.ipv4.tcp_ecn": "1"} if site.experiment.ecn else {}
        sysctls = {host: namespace.set_sysctls(name, wanted) for host, name in names.items()}
        _bring_loopback_up(names)
        link = _start_link(site, names)
        hosts = {host: _configure(site, host, name) for host, name in names.items()}
        _add_ues(site, names, hosts)
        for host, description in hosts.items():
            description["sysctls"] = sysctls[host]
        yield Emulated(site, names, hosts, link)
    finally:
        site.supervisor.stop_all()
        site.resources.remove(*namespaces)


class Emulated(NamespaceHosts):
    """See `ccu.testbeds.Testbed`."""

    records: dict[str, Any] = {  # noqa: RUF012 - never changed
        "mac": {"file": "raw/mac.csv", "source": "nr-link"},
        "link": {"file": "raw/link.csv", "source": "nr-link"},
        "link_summary": "raw/link-summary.json",
    }

    def __init__(
        self, site: Site, names: dict[Host, str], hosts: dict[Host, dict[str, Any]], link: Process
    ) -> None:
        super().__init__(names)
        self.hosts = hosts
        self._site = site
        self._link = link

    def delivered_bytes(self, direction: Direction) -> int:
        return delivered_bytes(self._site.raw / "mac.csv", direction)

    def start_changes(self) -> None:
        self._link.popen.send_signal(signal.SIGUSR1)

    def settle(self) -> dict[str, Any]:
        """Stops nr-link, which then writes its account."""
        code = self._site.supervisor.stop(self._link)
        try:
            summary: dict[str, Any] = json.loads((self._site.raw / "link-summary.json").read_text())
        except (OSError, ValueError) as error:
            raise RunFailed("link", f"nr-link wrote no summary ({error})") from None
        if code != 0 or summary.get("failure"):
            raise RunFailed("link", f"nr-link ended with code {code}: {summary.get('failure')}")
        return summary


def _bring_loopback_up(names: dict[Host, str]) -> None:
    """A host without lo cannot reach its own address."""
    from pyroute2 import IPRoute

    for name in names.values():
        with IPRoute(netns=name) as ip:
            ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")


def _start_link(site: Site, names: dict[Host, str]) -> Process:
    config = link_config.write(
        site.experiment, site.scenario, site.raw, names["server"], names["ue"]
    )
    command = [programs.require("nr-link"), "run", "--config", str(config)]
    link = site.supervisor.start("nr-link", command, stage="link")
    site.supervisor.wait_ready_event(link)
    return link


def _configure(site: Site, host: Host, name: str) -> dict[str, Any]:
    peer: Host = "ue" if host == "server" else "server"
    mtu_bytes = site.experiment.mtu_bytes
    namespace.set_address(name, _DEVICES[host], _ADDRESSES[host], _ADDRESSES[peer], mtu_bytes)
    state = namespace.describe(name, _DEVICES[host])
    for key, wanted in (("address", _ADDRESSES[host]), ("mtu_bytes", mtu_bytes)):
        if state[key] != wanted:
            raise RunFailed("testbed", f"{host}: {key} is {state[key]} after {wanted} was set")
    return state


def _add_ues(site: Site, names: dict[Host, str], hosts: dict[Host, dict[str, Any]]) -> None:
    """The UEs beyond the first: each has a device on the UEs' host, by which it sends."""
    ues = range(1, site.experiment.ues + 1)
    if len(ues) == 1:
        return
    server, mtu_bytes = _ADDRESSES["server"], site.experiment.mtu_bytes
    for ue in ues:
        device, address = link_config.ue_device(ue), link_config.ue_address(ue)
        if ue > 1:
            namespace.set_address(names["ue"], device, address, server, mtu_bytes)
            namespace.add_route(names["server"], _DEVICES["server"], address)
        namespace.send_from(names["ue"], address, device, server, table=100 + ue)
    addresses = [link_config.ue_address(ue) for ue in ues]
    hosts["ue"] |= {"interface": "any", "addresses": addresses}
