# SPDX-License-Identifier: Apache-2.0
"""Every field of every packet as dpkt and tshark read it, on generated and on real captures."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from ddu.readers.packets.capture import read_packets
from ddu.readers.packets.tables import Capture
from testsupport.captures import LINKS, MAC, write
from testsupport.waiting import until

U8, U16, U32 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32))
TCP_OPTIONS = st.lists(
    st.one_of(
        st.just(("NOP", None)),
        st.tuples(st.just("MSS"), U16),
        st.tuples(st.just("WScale"), st.integers(0, 14)),
        st.tuples(st.just("Timestamp"), st.tuples(U32, U32)),
        st.just(("SAckOK", b"")),
        st.integers(1, 4).flatmap(
            lambda blocks: st.tuples(st.just("SAck"), st.tuples(*[U32] * (2 * blocks)))
        ),
        st.tuples(st.just(253), st.binary(max_size=6)),
    ),
    max_size=4,
    unique_by=lambda option: option[0],
).filter(lambda options: sum(_option_bytes(option) for option in options) <= 40)


def _option_bytes(option: tuple[object, object]) -> int:
    kind, value = option
    fixed = {"NOP": 1, "MSS": 4, "WScale": 3, "Timestamp": 10, "SAckOK": 2}
    if kind == "SAck":
        return 2 + 4 * len(value)  # type: ignore[arg-type]
    return fixed.get(str(kind), 8)


@st.composite
def quic_datagrams(draw: st.DrawFn) -> bytes:
    """Long headers of every version and type, with connection IDs and tokens of any length."""
    version = draw(st.sampled_from([0, 1, 0x6B3343CF, 2]))
    ids = [draw(st.binary(max_size=22)) for _ in range(2)]
    rest = draw(st.binary(max_size=30))
    parts = [bytes([len(one)]) + one for one in ids]
    return (
        bytes([0x80 | draw(st.integers(0, 0x7F))])
        + version.to_bytes(4, "big")
        + b"".join([*parts, rest])
    )


@st.composite
def transports(draw: st.DrawFn) -> Packet:
    payload = Raw(draw(st.binary(max_size=40) | quic_datagrams()))
    few = st.sampled_from([443, 1000])  # so that both directions of a connection meet
    ports = {"sport": draw(few), "dport": draw(few)}
    if draw(st.booleans()):
        return UDP(**ports) / payload
    ports = {"sport": draw(st.integers(1, 2000)), "dport": draw(st.integers(1, 2000))}
    return (
        TCP(
            **ports,
            seq=draw(U32),
            ack=draw(U32),
            flags=draw(st.integers(0, 0x1FF)),
            window=draw(U16),
            options=draw(TCP_OPTIONS),
        )
        / payload
    )


@st.composite
def ip_packets(draw: st.DrawFn) -> Packet:
    payload = draw(transports() | st.builds(ICMP))
    if draw(st.booleans()):
        more, offset = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 100)]))
        addresses = {"src": f"10.0.0.{draw(U8)}", "dst": "10.0.0.1"}
        header = IP(**addresses, tos=draw(U8), ttl=draw(U8), flags=more, frag=offset)
        return header / payload
    if isinstance(payload, ICMP):
        payload = UDP(sport=1, dport=2)
    packet = IPv6(src="fe80::1", dst=f"2001:db8::{draw(U8):x}", tc=draw(U8), hlim=draw(U8))
    # In the order of RFC 8200, section 4.1: dpkt fails on others.
    for extension in (IPv6ExtHdrHopByHop, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment):
        packet = packet / extension() if draw(st.booleans()) else packet
    return packet / payload


def differences(one: Capture, other: Capture) -> list[str]:
    """Return the differences of two readings of a capture, in words."""
    lines = []
    for name in ("packets", "flows"):
        left, right = getattr(one, name), getattr(other, name)
        for column in left.column_names:
            pairs = zip(left[column].to_pylist(), right[column].to_pylist(), strict=True)
            lines += [
                f"{name} {column}[{i}]: {a} ≠ {b}" for i, (a, b) in enumerate(pairs) if a != b
            ]
    for name in ("skipped_count", "truncated_at"):
        if getattr(one, name) != getattr(other, name):
            lines.append(f"{name}: {getattr(one, name)} ≠ {getattr(other, name)}")
    return lines


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(ip_packets(), min_size=1, max_size=6),
    st.sampled_from(sorted(LINKS)),
    st.sampled_from([40, 64, 88, 128, 1 << 18]),
)
def test_equal_to_dpkt_whatever_the_packet(
    packets: list[Packet], link_type: int, snaplen: int
) -> None:
    if snaplen < 88:  # would cut IPv6's extension headers, and dpkt then give up the packet
        packets = [packet for packet in packets if packet.version == 4]
    with tempfile.TemporaryDirectory() as directory:
        frames = [bytes(LINKS[link_type](packet)) for packet in packets]
        path = write(Path(directory) / "generated.pcap", link_type, frames, snaplen)
        assert differences(read_packets(path), read_packets(path, reader="dpkt")) == []


def test_equal_to_dpkt_with_vlan_tags_and_what_is_not_ip(tmp_path: Path) -> None:
    segment = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=1, dport=2) / b"payload"
    frames = [
        Ether(**MAC) / Dot1Q(vlan=5) / segment,
        Ether(**MAC, type=0x88A8) / Dot1Q(vlan=7) / Dot1Q(vlan=8) / segment,
        Ether(**MAC) / ARP(),
        Ether(**MAC) / segment / Raw(bytes(20)),  # padded
    ]
    path = write(tmp_path / "vlan.pcap", 1, [bytes(frame) for frame in frames])
    capture = read_packets(path)
    assert differences(capture, read_packets(path, reader="dpkt")) == []
    assert capture.packets["vlan"].to_pylist() == [5, 7, None]
    assert capture.skipped_count == 1


TSHARK_FIELDS = {
    "utc_ns": "frame.time_epoch",
    "caplen": "frame.cap_len",
    "wirelen": "frame.len",
    "src": "ip.src",
    "dst": "ip.dst",
    "ip_bytes": "ip.len",
    "ttl": "ip.ttl",
    "dscp": "ip.dsfield.dscp",
    "ecn": "ip.dsfield.ecn",
    "proto": "ip.proto",
    "sport": "tcp.srcport",
    "dport": "tcp.dstport",
    "tcp_seq": "tcp.seq_raw",
    "tcp_ack": "tcp.ack_raw",
    "tcp_flags": "tcp.flags",
    "tcp_window": "tcp.window_size_value",
    "tcp_payload_bytes": "tcp.len",
    "ts_val": "tcp.options.timestamp.tsval",
    "ts_ecr": "tcp.options.timestamp.tsecr",
    "mss": "tcp.options.mss_val",
    "wscale": "tcp.options.wscale.shift",
}


@pytest.fixture
def live_capture(tmp_path: Path) -> Path:
    """Real TCP on loopback, captured as our runs do: ns, 128 bytes of each packet."""
    if not shutil.which("tcpdump") or os.geteuid() != 0:
        pytest.skip("needs tcpdump and root")
    path = tmp_path / "live.pcap"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = ["tcpdump", "-i", "lo", "-U", "-s", "128", "--nano", "-w", path, f"port {port}"]
        tcpdump = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert tcpdump.stderr is not None
            assert any("listening on" in line for line in tcpdump.stderr), "tcpdump did not start"
            with socket.create_connection(("127.0.0.1", port)) as client:
                connection, _ = server.accept()
                for _ in range(40):
                    client.sendall(bytes(100_000))
                    assert connection.recv(100_000, socket.MSG_WAITALL)
                connection.close()
            until(lambda: path.stat().st_size >= 10_000)
        finally:
            tcpdump.send_signal(signal.SIGINT)
            tcpdump.communicate()
    return path


def tshark(path: Path) -> list[dict[str, int | str | None]]:
    """TSHARK_FIELDS of every packet."""
    fields = [argument for field in TSHARK_FIELDS.values() for argument in ("-e", field)]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|", *fields]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        {
            column: _tshark_value(column, text)
            for column, text in zip(TSHARK_FIELDS, line.split("|"), strict=True)
        }
        for line in lines
    ]


def _tshark_value(column: str, text: str) -> int | str | None:
    if not text:
        return None
    if column == "utc_ns":
        seconds, ns = text.split(".")
        return int(seconds) * 1_000_000_000 + int(ns)
    return text if column in ("src", "dst") else int(text, 0)


def test_equal_to_tshark_and_dpkt_on_a_real_capture(live_capture: Path) -> None:
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    capture = read_packets(live_capture, expect_tcp=True)
    assert differences(capture, read_packets(live_capture, reader="dpkt")) == []
    assert capture.packets.select(list(TSHARK_FIELDS)).to_pylist() == tshark(live_capture)
    assert max(capture.packets["ip_bytes"].to_pylist()) > 1500  # GSO did hand over super-packets
    assert capture.flows["reverse_flow"].to_pylist() == [1, 0]


def test_equal_to_tshark_on_generated_segments(tmp_path: Path) -> None:
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    options = [
        [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 0)), ("NOP", None), ("WScale", 7)],
        [("NOP", None), ("NOP", None), ("Timestamp", (2**32 - 1, 2**31))],
        [],
    ]
    segments = [
        IP(src="10.0.0.1", dst="10.0.0.2", tos=number, ttl=number + 1)
        / TCP(sport=number, dport=80, seq=2**32 - 1 - number, flags=2**number, options=each)
        / bytes(number)
        for number, each in enumerate(options)
    ]
    path = write(tmp_path / "generated.pcap", 101, [bytes(segment) for segment in segments])
    assert read_packets(path).packets.select(list(TSHARK_FIELDS)).to_pylist() == tshark(path)
