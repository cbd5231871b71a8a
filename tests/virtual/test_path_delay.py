# SPDX-License-Identifier: Apache-2.0
"""A packet takes the path's delay, however rarely the link is sampled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpkt
import pytest

from testsupport.virtual_time import VirtualRun, constant

PATH_MS = 3
PACKET_MS = 300 * 8e-3 / 100
"""At least what a datagram and its headers take at 100 Mbit/s."""


def handshakes_ms(capture: Path) -> list[float]:
    """Time from each SYN to the SYN-ACK that answers it, by dpkt."""
    asked_s: dict[int, float] = {}
    delays_ms = []
    with capture.open("rb") as file:
        for utc_s, frame in dpkt.pcap.Reader(file):
            tcp = dpkt.ip.IP(frame).data if frame[0] >> 4 == 4 else None
            if not isinstance(tcp, dpkt.tcp.TCP) or not tcp.flags & dpkt.tcp.TH_SYN:
                continue  # or a router solicitation of IPv6
            if tcp.flags & dpkt.tcp.TH_ACK:
                delays_ms.append((float(utc_s) - asked_s[tcp.dport]) * 1e3)
            else:
                asked_s[tcp.sport] = float(utc_s)
    return delays_ms


@pytest.mark.parametrize("interval_ms", [1, 10, 100])
def test_a_lone_packet_takes_the_delay_of_the_path(
    virtual: Callable[..., VirtualRun], interval_ms: int
) -> None:
    path = {way: {"delay_ms": PATH_MS} for way in ("dl", "ul")}
    # The handshake of TCP, and nothing else: 20 flows of a byte.
    flow: dict[str, Any] = {"cc": "reno", "direction": "dl", "volume_bytes": 1, "duration_s": 1}
    flows = [{**flow, "start_s": 0.1 + 0.0371 * number} for number in range(20)]
    capture = {"files": {"server": "sender.pcap"}}
    run = virtual(
        {"flows": flows, "capture": capture},
        scenario=constant(100, 100),
        path=path,
        samples={"interval_ms": interval_ms},
    )
    rtts_ms = handshakes_ms(run.folder / "sender.pcap")
    assert len(rtts_ms) == 20
    assert min(rtts_ms) >= 2 * PATH_MS
    assert max(rtts_ms) < 2 * PATH_MS + 2 * PACKET_MS + 0.1  # moderation: 50 µs each way
