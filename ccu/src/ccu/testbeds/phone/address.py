# SPDX-License-Identifier: Apache-2.0
"""The address by which the phone reaches this machine: IPv4, or IPv6 if there is no other.

Operators often give phones IPv6 only, and carry IPv4 over it (464XLAT, RFC 6877) or not at all. So
an address is used only if the phone has a route to it.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ccu.testbeds.phone.options import PhoneOptions
from ddu.console.problems import RefusedError, refusal

_ANYWHERE = {4: "192.0.2.1", 6: "2001:db8::1"}  # RFC 5737, RFC 3849: for route lookups only
_FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
_UNSPECIFIED = {4: "0.0.0.0", 6: "::"}
_Route = TypeVar("_Route")


@dataclass(frozen=True)
class Address:
    """The address at which the phone reaches this machine, and its local address and interface."""

    reached_at: str
    listens: str
    interface: str

    @property
    def version(self) -> int:
        """Return 4 or 6."""
        return ipaddress.ip_address(self.reached_at).version

    @property
    def family(self) -> int:
        return _FAMILY[self.version]


def plain(address: str) -> str:
    """Return the address without the brackets of a URL (RFC 3986 3.2.2) and not mapped from IPv4 to
    IPv6 (RFC 4291 2.5.5.2); a name is unchanged."""
    text = address.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    try:
        known = ipaddress.ip_address(text)
    except ValueError:
        return text
    mapped = known.ipv4_mapped if known.version == 6 else None
    return str(mapped or known)


def host_and_port(text: str, usual_port: int) -> tuple[str, int]:
    """Parse `HOST`, `HOST:PORT`, an IPv6 address alone, or `[ADDRESS]:PORT`. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or (":" in host and not bracketed):
        host, port = text, str(usual_port)
    if not plain(host):
        raise ValueError(f"{text!r} has no host")
    if not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError(f"{port!r} in {text!r} is not a port")
    return plain(host), int(port)


def candidates(settings: PhoneOptions) -> list[Address]:
    """Return the addresses that the phone may reach, the most likely first.

    Raises RefusedError if the machine has no network, or the address is invalid.
    """
    if settings.server_address:
        addresses = _resolved(plain(settings.server_address))
    else:
        own = [_own_address(version) for version in (4, 6)]
        addresses = [one for one in own if one]
        # Behind a NAT there is no access from outside; IPv6 has no NAT.
        addresses.sort(key=lambda one: ipaddress.ip_address(one).is_private)
    if not addresses:
        raise refusal(
            "this machine has no route to the internet",
            "give the address by which the phone reaches it",
            key="server_address",
        )
    return [_placed(one) for one in addresses]


def reached(
    addresses: Sequence[Address], route_to: Callable[[str], _Route]
) -> tuple[Address, _Route]:
    """Return the first address that the phone has a route to, and that route.

    `route_to` raises RefusedError if there is none; if there is none to any address, this function
    raises RefusedError with the problems of the first.
    """
    refusals = []
    for one in addresses:
        try:
            return one, route_to(one.reached_at)
        except RefusedError as error:
            refusals.append(error)
    raise refusals[0]


def _resolved(name: str) -> list[str]:
    try:
        infos: list[Any] = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise refusal(
            f"{name!r} is not an address, and not a known name", key="server_address"
        ) from None
    addresses = [str(one[4][0]) for one in infos]
    if any(one.startswith("fe80:") for one in addresses):
        raise refusal(
            f"{name} is link-local, valid on one link only",
            "give a global address",
            key="server_address",
        )
    return list(dict.fromkeys(addresses))


def _own_address(version: int) -> str | None:
    """Return the address by which this machine reaches the internet; nothing is sent."""
    try:  # A kernel without IPv6 makes no such socket.
        with socket.socket(_FAMILY[version], socket.SOCK_DGRAM) as probe:
            probe.connect((_ANYWHERE[version], 9))
            address = str(probe.getsockname()[0])
    except OSError:
        return None
    return None if ipaddress.ip_address(address).is_loopback else address


def _placed(reached_at: str) -> Address:
    from pyroute2 import IPRoute

    version = ipaddress.ip_address(reached_at).version
    with IPRoute() as ip:
        for entry in ip.get_addr(family=_FAMILY[version]):
            # With a peer, "address" is the peer's (rtnetlink(7)).
            if plain(entry.get("local") or entry.get("address") or "") == reached_at:
                name = ip.get_links(entry["index"])[0].get("ifname")
                return Address(reached_at, reached_at, str(name))
        # Not an address of this machine: a router or provider translates it.
        routes = ip.route("get", dst=_ANYWHERE[version], family=_FAMILY[version])
        name = ip.get_links(routes[0].get("oif"))[0].get("ifname")
    return Address(reached_at, _UNSPECIFIED[version], str(name))
