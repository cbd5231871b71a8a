# SPDX-License-Identifier: Apache-2.0
"""File formats, link types and sizes that packets come in, and files that cannot be read."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, Jumbo
from scapy.layers.l2 import Ether

from ddu.errors import UnreadableInput
from ddu.readers.packets.capture import read_packets
from ddu.readers.packets.native.stream import PacketStream
from ddu.readers.packets.tables import SCHEMA

SECOND, NS = 1_700_000_000, 123_456_789
SEGMENT = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=1, dport=2, seq=7) / b"payload"
FRAME = bytes(SEGMENT)


def pcap(
    frames: list[bytes], link_type: int = 101, order: str = "<", magic: int = 0xA1B23C4D
) -> bytes:
    fraction = NS if magic == 0xA1B23C4D else NS // 1000
    content = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 1 << 18, link_type)
    for frame in frames:
        header = struct.pack(order + "IIII", SECOND, fraction, len(frame), len(frame))
        content += header + frame
    return content


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def pcapng(frames: list[bytes], order: str, link_type: int = 101) -> bytes:
    """A section of two interfaces, in ns with an offset and in units of 2⁻²⁰ s, used in turn."""
    content = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    resolution = struct.pack(order + "HHB3x", 9, 1, 9)
    offset = struct.pack(order + "HHq", 14, 8, 1_000_000_000)
    content += block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + resolution + offset)
    resolution = struct.pack(order + "HHB3x", 9, 1, 0x80 | 20)
    content += block(order, 1, struct.pack(order + "HHI", link_type, 0, 0) + resolution)
    ticks = [(SECOND - 1_000_000_000) * 10**9 + NS, (SECOND << 20) + 1]
    for number, frame in enumerate(frames):
        high, low = divmod(ticks[number % 2], 1 << 32)
        length = len(frame)
        header = struct.pack(order + "IIIII", number % 2, high, low, length, length)
        content += block(order, 6, header + frame) + block(order, 5, bytes(12))
    return content


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B23C4D, 0xA1B2C3D4])
def test_pcap_of_either_order_and_resolution(tmp_path: Path, order: str, magic: int) -> None:
    path = tmp_path / "some.pcap"
    path.write_bytes(pcap([FRAME], order=order, magic=magic))
    ns = NS if magic == 0xA1B23C4D else NS // 1000 * 1000
    for reader in ("native", "dpkt"):
        packets = read_packets(path, reader=reader).packets
        assert packets["utc_ns"].to_pylist() == [SECOND * 10**9 + ns]
        assert packets["tcp_seq"].to_pylist() == [7]


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_with_its_interfaces_clocks(tmp_path: Path, order: str) -> None:
    path = tmp_path / "some.pcapng"
    path.write_bytes(pcapng([FRAME, FRAME + b"x"], order) + pcapng([FRAME], "<"))
    for reader in ("native", "dpkt"):
        packets = read_packets(path, reader=reader).packets
        first, second = SECOND * 10**9 + NS, SECOND * 10**9 + 953  # 2⁻²⁰ s = 953.67 ns
        assert packets["utc_ns"].to_pylist() == [first, second, first]
        assert packets["caplen"].to_pylist() == [47, 48, 47]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_files_and_their_cut_ends(tmp_path: Path, compression: str) -> None:
    frames = [struct.pack(">I", number).join([FRAME, b""]) for number in range(5000)]
    path = tmp_path / f"some.pcap.{compression}"
    with pa.output_stream(path, compression=compression) as stream:
        stream.write(pcap(frames))
    assert read_packets(path).packets.num_rows == 5000
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    cut = read_packets(path)
    assert cut.packets.num_rows < 5000


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    content = pcap([FRAME] * 3)
    path = tmp_path / "some.pcap.gz"
    path.write_bytes(gzip.compress(content[:50]) + gzip.compress(content[50:]))
    assert read_packets(path).packets.num_rows == 3


@pytest.mark.parametrize(
    ("link_type", "header"),
    [
        (0, struct.pack("<I", 2)),
        (0, struct.pack(">I", 2)),
        (108, struct.pack(">I", 2)),
        (113, bytes(14) + b"\x08\x00"),
        (276, b"\x08\x00" + bytes(18)),
        (228, b""),
        (12, b""),
        (1, bytes(12) + b"\x91\x00\x00\x05\x08\x00"),
    ],
)
def test_link_types(tmp_path: Path, link_type: int, header: bytes) -> None:
    path = tmp_path / "some.pcap"
    path.write_bytes(pcap([header + FRAME], link_type))
    row = read_packets(path).packets.to_pylist()[0]
    assert (row["src"], row["tcp_payload_bytes"], row["ip_bytes"]) == ("10.0.0.1", 7, 47)


def test_gtp_u_shows_the_users_packet(tmp_path: Path) -> None:
    tunnel = Ether() / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=2152, dport=2152)
    header = GTP_U_Header(teid=0xABCD, E=1, next_ex=0x85) / GTPPDUSessionContainer(type=0, QFI=9)
    path = tmp_path / "n3.pcap"
    path.write_bytes(pcap([bytes(tunnel / header / SEGMENT)], 1))
    row = read_packets(path).packets.to_pylist()[0]
    assert (row["src"], row["dport"], row["ip_bytes"]) == ("10.0.0.1", 2, 47)
    assert row["gtp_teid"] == 0xABCD


@pytest.mark.parametrize(
    "packet",
    [
        IP(len=0) / TCP() / bytes(100_000),
        IPv6(plen=0) / TCP() / bytes(100_000),
        IPv6(plen=0)
        / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=100_028)])
        / TCP()
        / bytes(100_000),
    ],
    ids=["IPv4", "IPv6", "IPv6 jumbogram"],
)
def test_packets_too_long_for_their_length_field(tmp_path: Path, packet: IP) -> None:
    path = tmp_path / "big-tcp.pcap"
    path.write_bytes(pcap([bytes(packet)]))
    row = read_packets(path).packets.to_pylist()[0]
    assert (row["ip_bytes"], row["tcp_payload_bytes"]) == (len(packet), 100_000)


def test_every_cut_gives_what_is_whole_and_says_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    for content, header, record in (
        (pcap([FRAME] * 3), 24, 16 + 47),
        (pcapng([FRAME] * 3, "<"), len(pcapng([], "<")), 32 + 48 + 24),
    ):
        for end in range(header, len(content) + 1):
            path.write_bytes(content[:end])
            native, dpkt = read_packets(path), read_packets(path, reader="dpkt")
            assert native.packets.num_rows == dpkt.packets.num_rows
            assert native.truncated_at == dpkt.truncated_at
            if header == 24:
                whole, rest = divmod(end - header, record)
                assert native.packets.num_rows == whole
                assert native.truncated_at == (end - rest if rest else None)


def test_a_file_cut_within_its_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    for end in range(24):
        path.write_bytes(pcap([])[:end])
        with pytest.raises(
            UnreadableInput, match=r"cut\.pcap: at byte 0: the file (is empty|ends)"
        ):
            read_packets(path)


def test_a_growing_file_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "growing.pcap"
    content = pcap([FRAME] * 2)
    path.write_bytes(content[:-5])
    stream = PacketStream(path)
    assert sum(batch.num_rows for batch in stream) == 1
    assert stream.truncated_at == 24 + 63
    with path.open("ab") as file:
        file.write(content[-5:])
    assert sum(batch.num_rows for batch in stream) == 1
    assert stream.truncated_at is None
    assert stream.flows["packets_count"].to_pylist() == [2]


def test_batches_columns_and_empty_captures(tmp_path: Path) -> None:
    path = tmp_path / "some.pcap"
    path.write_bytes(pcap([FRAME] * 10))
    columns = ["utc_ns", "src", "tcp_seq"]
    stream = PacketStream(path, columns=columns, batch_packets=3)
    batches = pa.Table.from_batches(stream, stream.schema).unify_dictionaries()
    packets = read_packets(path, columns=columns).packets
    assert packets.column_names == columns
    assert packets.equals(batches)
    assert packets.equals(read_packets(path).packets.select(columns))
    with pytest.raises(ValueError, match="no such packet column: nonsense"):
        read_packets(path, columns=["nonsense"])
    path.write_bytes(pcap([]))
    for reader in ("native", "dpkt"):
        assert read_packets(path, reader=reader).packets.schema.equals(SCHEMA)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "at byte 0: the file is empty"),
        (b"root:x:0:0:root", "at byte 0: neither pcap nor pcapng: the file begins with 0x726f6f74"),
        (pcap([FRAME], 147), "at byte 24: link type 147 is not read"),
        (pcap([FRAME], 253), r"link type 253 \(netlink\) has no packets"),
        (pcap([FRAME]) + b"\xff" * 16, "at byte 87: a record that claims to have 4294967295 bytes"),
        (gzip.compress(b"no capture"), "neither pcap nor pcapng"),
        (pcapng([], "<") + struct.pack("<III", 6, 13, 0), "a pcapng block that claims to have 13"),
        (pcapng([], "<") + block("<", 6, struct.pack("<IIIII", 9, 0, 0, 0, 0)), "interface 9"),
        (pcapng([], "<") + block("<", 3, bytes(8)), "it has no time"),
    ],
)
def test_what_cannot_be_read_is_told_with_file_and_byte(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "bad.pcap"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput, match=rf"bad\.pcap: .*{words}"):
        read_packets(path)


def test_missing_files_and_captures_without_tcp(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"none\.pcap: No such file"):
        read_packets(tmp_path / "none.pcap")
    path = tmp_path / "udp.pcap"
    path.write_bytes(pcap([bytes(IP() / UDP() / b"x"), b"junk"]))
    assert read_packets(path).packets.num_rows == 1
    for reader in ("native", "dpkt"):
        with pytest.raises(UnreadableInput, match=r"without TCP \(1 IP packets .* 1 frames"):
            read_packets(path, reader=reader, expect_tcp=True)
