# SPDX-License-Identifier: Apache-2.0
"""TCP packets of a raw-IP capture, by dpkt: an oracle without code of ddu's reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dpkt


class Packet(NamedTuple):
    """A TCP packet; `tsval` and `tsecr` are TCP's timestamps (RFC 7323)."""

    utc_s: float
    ports: tuple[int, int]
    payload_bytes: int
    acknowledges: bool
    tsval: int
    tsecr: int


def packets(capture: Path) -> Iterator[Packet]:
    """All of them in order; dpkt rounds times below 1 µs."""
    with capture.open("rb") as file:
        for utc_s, frame in dpkt.pcap.Reader(file):
            ip = dpkt.ip.IP(frame)
            tcp = ip.data
            if not isinstance(tcp, dpkt.tcp.TCP):
                continue
            options = dict(dpkt.tcp.parse_opts(tcp.opts))
            stamps = options.get(dpkt.tcp.TCP_OPT_TIMESTAMP, bytes(8))
            yield Packet(
                float(utc_s),
                (tcp.sport, tcp.dport),
                ip.len - 4 * ip.hl - 4 * tcp.off,
                bool(tcp.flags & dpkt.tcp.TH_ACK),
                int.from_bytes(stamps[:4], "big"),
                int.from_bytes(stamps[4:], "big"),
            )


def rtts_ms(capture: Path, ports: tuple[int, int]) -> list[float]:
    """RTTs of a flow by TCP timestamps at its sender, as docs/metrics.md defines them."""
    sent: dict[int, float] = {}
    back: dict[int, float] = {}
    for packet in packets(capture):
        if packet.ports == ports and packet.payload_bytes:
            sent.setdefault(packet.tsval, packet.utc_s)
        elif packet.ports == ports[::-1] and packet.acknowledges:
            back.setdefault(packet.tsecr, packet.utc_s)
    return [(back[v] - sent[v]) * 1e3 for v in sent if v in back and back[v] >= sent[v]]
