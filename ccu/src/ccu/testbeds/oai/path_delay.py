# SPDX-License-Identifier: Apache-2.0
"""The delay of the path besides the radio's, by netem at the server, if the kernel has it."""

from __future__ import annotations

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

_NETEM_LIMIT_PACKETS = 100_000


def add_delay(name: str, interface: str, rtt_ms: float) -> list[str]:
    """Delay packets that leave `interface` by the whole RTT; return a sentence if that fails."""
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
