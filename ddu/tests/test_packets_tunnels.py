# SPDX-License-Identifier: Apache-2.0
"""Packets within packets: GTP-U and QUIC, against tshark and the examples of the standards."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from scapy.contrib.gtp import (
    GTP_U_Header,
    GTPEchoRequest,
    GTPPDUSessionContainer,
)
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet

from ddu.readers.packets.capture import read_packets
from testsupport.captures import LINKS, MAC, write

needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

OUTER = IP(src="192.168.71.1", dst="192.168.71.2") / UDP(sport=2152, dport=2152)
INNER = IP(src="10.0.0.2", dst="8.8.8.8") / TCP(
    sport=1000, dport=443, seq=7, ack=9, flags="PA", options=[("Timestamp", (5, 6))]
)


def fields(path: Path, *names: str) -> list[list[str]]:
    """Every value of each field, the innermost last, per packet."""
    wanted = [argument for name in names for argument in ("-e", name)]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|", *wanted]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split("|") for line in lines]


def tunnels() -> list[Packet]:
    """The headers of N3: bare, with a sequence number, and with a PDU session container for 5G."""
    v6 = IPv6(src="2001:db8::1", dst="2001:db8::2") / IPv6ExtHdrHopByHop() / TCP(sport=9, dport=8)
    container = GTPPDUSessionContainer(type=0, QFI=9)
    return [
        OUTER / GTP_U_Header(teid=0x11223344, gtp_type=255) / INNER / b"payload",
        OUTER / GTP_U_Header(teid=2, gtp_type=255, S=1, seq=77) / INNER / b"x",
        OUTER / GTP_U_Header(teid=3, gtp_type=255, E=1, next_ex=0x85) / container / INNER,
        OUTER / GTP_U_Header(teid=4, gtp_type=255) / v6 / bytes(11),
        IPv6(src="fd00::1", dst="fd00::2") / UDP(sport=2152, dport=2152)
        / GTP_U_Header(teid=5, gtp_type=255) / INNER / bytes(3),
    ]  # fmt: skip


@needs_tshark
@pytest.mark.parametrize("link_type", [1, 101, 113, 276])
def test_tunnelled_packets_are_those_of_tshark(tmp_path: Path, link_type: int) -> None:
    frames = [bytes(LINKS[link_type](packet)) for packet in tunnels()]
    path = write(tmp_path / "n3.pcap", link_type, frames)
    packets = read_packets(path).packets
    rows = fields(path, "gtp.teid", "tcp.srcport", "tcp.seq_raw", "tcp.len", "ip.src", "ipv6.src")
    assert packets.num_rows == len(rows) == 5
    for packet, (teid, sport, seq, length, v4, v6) in zip(packets.to_pylist(), rows, strict=True):
        assert packet["gtp_teid"] == int(teid, 0)
        assert (packet["sport"], packet["tcp_seq"]) == (int(sport), int(seq))
        assert packet["tcp_payload_bytes"] == int(length)
        assert packet["src"] in (v4.split(",")[-1], v6.split(",")[-1])


def test_what_is_no_users_packet_stays_a_datagram(tmp_path: Path) -> None:
    echo = OUTER / GTP_U_Header(gtp_type=1, S=1, seq=1) / GTPEchoRequest()
    vlan = Ether(**MAC) / Dot1Q(vlan=30) / tunnels()[0]
    path = write(tmp_path / "n3.pcap", 1, [bytes(Ether(**MAC) / echo), bytes(vlan)])
    first, second = read_packets(path).packets.to_pylist()
    assert (first["gtp_teid"], first["dport"]) == (None, 2152)
    assert (second["gtp_teid"], second["vlan"], second["dport"]) == (0x11223344, 30, 443)


CLIENT = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=50_000, dport=443)
SERVER = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=443, dport=50_000)
DCID, SCID = bytes.fromhex("8394c8f03e515708"), bytes.fromhex("f067a5502a4262b5")


def long_header(first: int, dcid: bytes, scid: bytes, rest: bytes, version: int = 1) -> bytes:
    ids = bytes([len(dcid)]) + dcid + bytes([len(scid)]) + scid
    return bytes([first]) + version.to_bytes(4, "big") + ids + rest


def quic_exchange() -> list[tuple[Packet, int | None, int | None]]:
    """Datagrams, whether their first header is long, and its bytes before the packet number.

    The Initials are those of RFC 9001, appendix A, in their headers.
    """
    body = bytes(1180)
    return [
        (CLIENT / b"\x40no long header yet", None, None),
        (CLIENT / (long_header(0xC0, DCID, b"", b"\x00\x44\x9e") + body), 1, 18),
        (SERVER / (long_header(0xC1, b"", SCID, b"\x00\x40\x75") + body), 1, 18),
        (CLIENT / (long_header(0xE0, SCID, b"", b"\x40\x75") + body), 1, 17),
        (CLIENT / (b"\x41" + SCID + body), 0, 9),
        (SERVER / (b"\x41" + body), 0, 1),
        (CLIENT / (long_header(0xC0, DCID, b"", b"\x04abcd\x44\x9e") + body), 1, 22),
        (SERVER / long_header(0xF0, b"", SCID, b"token" + bytes(16)), 1, 15),
        (SERVER / long_header(0x80, b"", SCID, bytes(4), version=0), 1, 15),
        (CLIENT / (long_header(0xD0, DCID, b"", b"\x00\x44\x9e", 0x6B3343CF) + body), 1, 18),
    ]


@pytest.mark.parametrize("reader", ["native", "dpkt"])
def test_quic_headers_are_as_long_as_the_standard_says(tmp_path: Path, reader: str) -> None:
    exchange = quic_exchange()
    path = write(tmp_path / "quic.pcap", 101, [bytes(packet) for packet, _, _ in exchange])
    packets = read_packets(path, reader=reader).packets  # type: ignore[arg-type]
    assert packets["quic_is_long"].to_pylist() == [is_long for _, is_long, _ in exchange]
    assert packets["quic_header_bytes"].to_pylist() == [size for _, _, size in exchange]


@needs_tshark
def test_quic_forms_and_connection_ids_are_those_of_tshark(tmp_path: Path) -> None:
    frames = [bytes(packet) for packet, is_long, _ in quic_exchange() if is_long is not None]
    path = write(tmp_path / "quic.pcap", 101, frames)
    packets = read_packets(path).packets.to_pylist()
    rows = fields(path, "quic.header_form", "quic.dcil", "quic.scil")
    for packet, (form, dcil, scil) in zip(packets, rows, strict=True):
        assert packet["quic_is_long"] == int(form.split(",")[0])
        if packet["quic_is_long"]:
            ids = int(dcil.split(",")[0]) + int(scil.split(",")[0])
            assert packet["quic_header_bytes"] >= 7 + ids
