# SPDX-License-Identifier: Apache-2.0
"""The path's delay beside the radio, by netem at the server; a kernel without netem adds none."""

from __future__ import annotations

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

_NETEM_LIMIT_PACKETS = 100_000


def add_delay(name: str, interface: str, rtt_ms: float) -> list[str]:
    """Delays what leaves `interface` by the whole round trip; a sentence if that cannot be."""
    if rtt_ms == 0:
        return []
    with IPRoute(netns=name) as ip:
        index = ip.link_lookup(ifname=interface)[0]
        try:
            ip.tc("add", "netem", index, delay=round(rtt_ms * 1000), limit=_NETEM_LIMIT_PACKETS)
        except NetlinkError:
            return [
                f"the path's {rtt_ms:g} ms were not added: this kernel has no netem "
                "(modprobe sch_netem, or run with --rtt 0ms)"
            ]
    return []
