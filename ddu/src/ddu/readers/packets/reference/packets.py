# SPDX-License-Identifier: Apache-2.0
"""Packets read with dpkt, slowly: written apart from the native reader, to check it.

Plain files only; GTP-U tunnels and IPv6 jumbograms are not opened, since dpkt knows neither.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dpkt
import pyarrow as pa

from ddu.errors import UnreadableInput
from ddu.readers.packets.reference.datagrams import fnv1a, quic_columns
from ddu.readers.packets.reference.records import Record, Records
from ddu.readers.packets.tables import FLOW_SCHEMA, Capture, chosen_schema

Row = dict[str, Any]

LINKS: dict[int, Any] = {
    0: dpkt.loopback.Loopback,
    1: dpkt.ethernet.Ethernet,
    113: dpkt.sll.SLL,
    276: dpkt.sll2.SLL2,
}
"""LINKTYPE → dpkt's class."""
RAW_IP = (12, 14, 101, 228, 229)


def read(path: Path, columns: Sequence[str] | None) -> Capture:
    """Read all packets; see ddu.readers.packets.capture."""
    rows: list[Row] = []
    flows: dict[tuple[Any, ...], Row] = {}
    skipped_count = 0
    records = Records(path)
    called: dict[tuple[Any, ...], int] = {}
    for record in records:
        row = _row(path, record)
        if row is None:
            skipped_count += 1
        else:
            row["flow"] = _count(flows, row)
            row |= quic_columns(called, row)
            rows.append(row)
    packets = _table(rows, chosen_schema(columns))
    return Capture(
        packets, _table(list(flows.values()), FLOW_SCHEMA), skipped_count, records.truncated_at
    )


def _table(rows: list[Row], schema: pa.Schema) -> pa.Table:
    arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.table(arrays, schema=schema)


def _count(flows: dict[tuple[Any, ...], Row], row: Row) -> int:
    src, dst, sport, dport, proto = (row.get(n) for n in ("src", "dst", "sport", "dport", "proto"))
    key = (src, dst, sport, dport, proto)
    flow = flows.get(key)
    if flow is None:
        flow = flows[key] = {
            "flow": len(flows),
            **dict(zip(("src", "dst", "sport", "dport", "proto"), key, strict=True)),
            "first_utc_ns": row["utc_ns"],
            "last_utc_ns": row["utc_ns"],
            "packets_count": 0,
            "ip_bytes": 0,
        }
        reverse = flows.get((dst, src, dport, sport, proto), flow)
        if reverse is not flow:
            flow["reverse_flow"], reverse["reverse_flow"] = reverse["flow"], flow["flow"]
    flow["first_utc_ns"] = min(flow["first_utc_ns"], row["utc_ns"])
    flow["last_utc_ns"] = max(flow["last_utc_ns"], row["utc_ns"])
    flow["packets_count"] += 1
    flow["ip_bytes"] += row["ip_bytes"]
    return int(flow["flow"])


def _row(path: Path, record: Record) -> Row | None:
    ip, vlan = _ip(path, record)
    if ip is None:
        return None
    row: Row = {
        "utc_ns": record.utc_ns,
        "caplen": len(record.frame),
        "wirelen": record.wirelen,
        "vlan": vlan,
    }
    if isinstance(ip, dpkt.ip.IP):
        row |= _ipv4(ip, record)
    else:
        row |= _ipv6(ip)
    payload = ip.data
    row["truncated"] = False
    if isinstance(payload, dpkt.tcp.TCP):
        row |= _tcp(payload, row["ip_bytes"] - row.pop("header_bytes"))
    elif isinstance(payload, dpkt.udp.UDP):
        row |= {"sport": payload.sport, "dport": payload.dport}
        if payload.ulen >= payload.__hdr_len__:
            row["udp_payload_bytes"] = payload.ulen - payload.__hdr_len__
            row["datagram"] = bytes(payload.data)
            row["udp_digest"] = fnv1a(row["udp_payload_bytes"], row["datagram"])
    elif row["proto"] in (dpkt.ip.IP_PROTO_TCP, dpkt.ip.IP_PROTO_UDP) and not row.pop("is_later"):
        row["truncated"] = True
        if len(payload) >= 4:
            row["sport"] = int.from_bytes(payload[:2], "big")
            row["dport"] = int.from_bytes(payload[2:4], "big")
    return row


def _ip(path: Path, record: Record) -> tuple[dpkt.ip.IP | dpkt.ip6.IP6 | None, int | None]:
    vlan = None
    try:
        if record.link_type in RAW_IP:
            is_v6 = bool(record.frame) and record.frame[0] >> 4 == 6
            ip = (dpkt.ip6.IP6 if is_v6 else dpkt.ip.IP)(record.frame)
        elif record.link_type in LINKS:
            link = LINKS[record.link_type](record.frame)
            tags = getattr(link, "vlan_tags", None)
            vlan = tags[0].id if tags else None
            ip = link.data
        else:
            raise UnreadableInput(path, f"link type {record.link_type} is not read with dpkt")
    except dpkt.dpkt.Error:
        return None, None
    return (ip, vlan) if isinstance(ip, dpkt.ip.IP | dpkt.ip6.IP6) else (None, None)


def _ipv4(ip: dpkt.ip.IP, record: Record) -> Row:
    header_bytes = ip.hl * 4
    captured = header_bytes + len(ip.data)
    # 0: offloaded segmentation made it longer than the field can hold (BIG TCP).
    beyond_capture = record.wirelen - len(record.frame)
    return {
        "ip_version": 4,
        "src": socket.inet_ntop(socket.AF_INET, ip.src),
        "dst": socket.inet_ntop(socket.AF_INET, ip.dst),
        "proto": ip.p,
        "ip_bytes": ip.len or captured + beyond_capture,
        "ttl": ip.ttl,
        "dscp": ip.tos >> 2,
        "ecn": ip.tos & 3,
        "fragment": bool(ip.mf or ip.offset),
        "is_later": bool(ip.offset),
        "header_bytes": header_bytes,
    }


def _ipv6(ip: dpkt.ip6.IP6) -> Row:
    fragments = [h for h in ip.all_extension_headers if isinstance(h, dpkt.ip6.IP6FragmentHeader)]
    return {
        "ip_version": 6,
        "src": socket.inet_ntop(socket.AF_INET6, ip.src),
        "dst": socket.inet_ntop(socket.AF_INET6, ip.dst),
        "proto": ip.p,
        "ip_bytes": ip.__hdr_len__ + ip.plen,
        "ttl": ip.hlim,
        "dscp": ip.fc >> 2,
        "ecn": ip.fc & 3,
        "fragment": any(header.frag_off or header.m_flag for header in fragments),
        "is_later": any(header.frag_off for header in fragments),
        "header_bytes": ip.__hdr_len__ + sum(h.length for h in ip.all_extension_headers),
    }


def _options(options: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and value of each whole option; dpkt's own walk also gives one that is cut off."""
    at = 0
    while at < len(options) and options[at] != dpkt.tcp.TCP_OPT_EOL:
        if options[at] == dpkt.tcp.TCP_OPT_NOP:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if length < 2 or at + length > len(options):
            return
        yield options[at], options[at + 2 : at + length]
        at += length


def _tcp(tcp: dpkt.tcp.TCP, segment_bytes: int) -> Row:
    header_bytes = tcp.off * 4
    row = {
        "sport": tcp.sport,
        "dport": tcp.dport,
        "tcp_seq": tcp.seq,
        "tcp_ack": tcp.ack,
        "tcp_flags": tcp._off_flags & 0x0FFF,
        "tcp_window": tcp.win,
        "tcp_payload_bytes": max(segment_bytes - header_bytes, 0),
        "truncated": tcp.__hdr_len__ + len(tcp.opts) < header_bytes,
    }
    for kind, value in _options(tcp.opts):
        words = [int.from_bytes(value[at : at + 4], "big") for at in range(0, len(value), 4)]
        if kind == dpkt.tcp.TCP_OPT_TIMESTAMP and len(value) == 8:
            row["ts_val"], row["ts_ecr"] = words
        elif kind == dpkt.tcp.TCP_OPT_SACK and len(words) in (2, 4, 6, 8):
            row["sack"] = words
        elif kind == dpkt.tcp.TCP_OPT_MSS and len(value) == 2:
            row["mss"] = int.from_bytes(value, "big")
        elif kind == dpkt.tcp.TCP_OPT_WSCALE and len(value) == 1:
            row["wscale"] = value[0]
    return row
