# SPDX-License-Identifier: Apache-2.0
"""By which address the phone reaches this machine: IPv4, or IPv6 where that is all there is.

Operators often give phones IPv6 alone, and carry IPv4 over it (464XLAT, RFC 6877) or not at all. So
an address is taken only if the phone has a way to it.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pyroute2 import IPRoute

from ccu.testbeds.phone.options import PhoneOptions
from testbed_console.problems import RefusedError, refusal

_ANYWHERE = {4: "192.0.2.1", 6: "2001:db8::1"}  # RFC 5737, RFC 3849: for routes only
_FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
_UNSPECIFIED = {4: "0.0.0.0", 6: "::"}
_Way = TypeVar("_Way")


@dataclass(frozen=True)
class Address:
    """Where the phone reaches this machine, and how that looks from inside."""

    reached_at: str
    listens: str
    interface: str

    @property
    def version(self) -> int:
        """4 or 6."""
        return ipaddress.ip_address(self.reached_at).version

    @property
    def family(self) -> int:
        return _FAMILY[self.version]


def plain(address: str) -> str:
    """As people and sockets write it, without the brackets of a URL (RFC 3986 3.2.2) and without
    the form that an IPv6 socket gives to IPv4 (RFC 4291 2.5.5.2); a name stays what it is."""
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
    """`HOST`, `HOST:PORT`, an IPv6 address alone, or `[ADDRESS]:PORT`. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or (":" in host and not bracketed):
        host, port = text, str(usual_port)
    if not plain(host):
        raise ValueError(f"{text!r} names no host")
    if not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError(f"{port!r} in {text!r} is no port")
    return plain(host), int(port)


def candidates(settings: PhoneOptions) -> list[Address]:
    """Those that the phone may reach, the likeliest first.

    Raises RefusedError when the machine has no network, or the address is none.
    """
    if settings.server_address:
        found = _resolved(plain(settings.server_address))
    else:
        own = [_own_address(version) for version in (4, 6)]
        found = [one for one in own if one]
        # Behind a translator nobody is reached from outside; IPv6 needs none.
        found.sort(key=lambda one: ipaddress.ip_address(one).is_private)
    if not found:
        raise refusal(
            "this machine has no way to the internet",
            "say by which address the phone reaches it",
            key="server_address",
        )
    return [_placed(one) for one in found]


def reached(addresses: Sequence[Address], way_to: Callable[[str], _Way]) -> tuple[Address, _Way]:
    """The first address that the phone has a way to, and that way.

    `way_to` raises RefusedError where there is none; if there is none to any, so does this, with
    the problems of the first.
    """
    refusals = []
    for one in addresses:
        try:
            return one, way_to(one.reached_at)
        except RefusedError as error:
            refusals.append(error)
    raise refusals[0]


def _resolved(name: str) -> list[str]:
    try:
        told: list[Any] = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise refusal(f"{name!r} is no address, and no known name", key="server_address") from None
    found = [str(one[4][0]) for one in told]
    if any(one.startswith("fe80:") for one in found):
        raise refusal(
            f"{name} is link-local, for one cable only",
            "give a global address",
            key="server_address",
        )
    return list(dict.fromkeys(found))


def _own_address(version: int) -> str | None:
    """By which this machine reaches the internet; nothing is sent."""
    with socket.socket(_FAMILY[version], socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ANYWHERE[version], 9))
        except OSError:
            return None
        found = str(probe.getsockname()[0])
    return None if ipaddress.ip_address(found).is_loopback else found


def _placed(reached_at: str) -> Address:
    version = ipaddress.ip_address(reached_at).version
    with IPRoute() as ip:
        for found in ip.get_addr(family=_FAMILY[version]):
            # With a peer, "address" is the peer's (rtnetlink(7)).
            if plain(found.get("local") or found.get("address") or "") == reached_at:
                name = ip.get_links(found["index"])[0].get("ifname")
                return Address(reached_at, reached_at, str(name))
        # Not ours: a router or provider in front translates it.
        routes = ip.route("get", dst=_ANYWHERE[version], family=_FAMILY[version])
        name = ip.get_links(routes[0].get("oif"))[0].get("ifname")
    return Address(reached_at, _UNSPECIFIED[version], str(name))
