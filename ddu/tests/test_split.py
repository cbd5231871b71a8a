# SPDX-License-Identifier: Apache-2.0
"""Connections as the native reader splits them, against numpy over dpkt's packets."""

from __future__ import annotations

import dataclasses
import socket
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddu.readers.packets.connections import Wanted
from ddu.readers.packets.implementations import Reader
from ddu.readers.packets.split import SplitCapture
from testsupport.synthetic_run import SERVER, T0, UE, Pcap, tcp, udp

A, B = (SERVER, 40001), (UE, 5201)
U32 = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1]))


@st.composite
def packets(draw: st.DrawFn) -> bytes:
    src, dst = draw(st.sampled_from([(A, B), (B, A), ((SERVER, 9), B), ((UE, 1), (SERVER, 2))]))
    payload = draw(st.sampled_from([0, 1, 1448, 14480]))
    if draw(st.integers(0, 4)) == 0:
        return udp(src, dst, payload)
    flags = draw(st.sampled_from([0x10, 0x18, 0x02, 0x12, 0x11, 0x04]))
    return tcp(src, dst, draw(U32), draw(U32), payload, flags, (draw(U32), draw(U32)))


def arrays(part: object) -> dict[str, list[int]]:
    assert dataclasses.is_dataclass(part)
    return {field.name: getattr(part, field.name).tolist() for field in dataclasses.fields(part)}


def _plain(split: SplitCapture) -> dict[str, list[object]]:
    rows = split.connections.to_dict("list")
    return {name: [None if value != value else value for value in rows[name]] for name in rows}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(packets(), min_size=1, max_size=12), U32, U32, st.sampled_from([576, 1500]))
def test_both_readers_split_alike(
    frames: list[bytes], origin: int, ack_origin: int, mtu_bytes: int
) -> None:
    pcap = Pcap([(T0 + number, frame) for number, frame in enumerate(frames)])
    wanted = [Wanted(*A, *B), Wanted(SERVER, None, *B)]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "both.pcap"
        pcap.write(file)
        native, dpkt = (SplitCapture(file, name, wanted, mtu_bytes) for name in ("native", "dpkt"))  # type: ignore[arg-type]
    tables = [_plain(split) for split in (native, dpkt)]
    assert tables[0] == {name: tables[1][name] for name in tables[0]}
    for row in native.connections.to_dict("records"):
        forth = row["dst"] == UE and row["dport"] == B[1] and row["src"] == SERVER
        back = row["src"] == UE and row["sport"] == B[1] and row["dst"] == SERVER
        ours, theirs = (s.direction(row["flow"], origin, ack_origin) for s in (native, dpkt))
        if forth:
            assert arrays(ours.payload) == arrays(theirs.payload)
            assert arrays(ours.tsval) == arrays(theirs.tsval)
        if back:
            assert arrays(ours.acks) == arrays(theirs.acks)
            assert arrays(ours.tsecr) == arrays(theirs.tsecr)
        if not forth and not back:
            assert len(ours.payload) + len(ours.acks) == 0


def test_unwanted_connections_cost_sums_only(tmp_path: Path) -> None:
    frames = [tcp((UE, 1), (SERVER, 2), 5, 0, 100), tcp(A, B, 5, 0, 3000)]
    Pcap([(T0, frame) for frame in frames]).write(tmp_path / "two.pcap")
    capture = SplitCapture(tmp_path / "two.pcap", "native", [Wanted(*A, *B)], 1500)
    assert len(capture.direction(0, 0, 0).payload) == 0
    segments = capture.direction(1, 0, 0).payload
    assert segments.segment_count.tolist() == [3]
    assert segments.ip_bytes.tolist() == [3000 + 3 * 52]
    assert capture.total_ip_bytes(UE) == 3156
    assert capture.total_ip_bytes(SERVER) == 152
    assert np.array_equal(capture.connections["ip_bytes"], [152, 3052])


def _fragments(datagram: bytes, size: int) -> list[bytes]:
    """Return the IPv4 packets that a datagram is sent as, each with up to `size` bytes of it."""
    frames = []
    for at in range(0, len(datagram), size):
        part, more = datagram[at : at + size], at + size < len(datagram)
        fields = (0x45, 0, 20 + len(part), 7, more << 13 | at // 8, 64, 17, 0)
        addresses = b"".join(socket.inet_aton(host) for host in (SERVER, UE))
        frames.append(struct.pack(">BBHHHBBH", *fields) + addresses + part)
    return frames


@pytest.mark.parametrize("reader", ["native", "dpkt"])
def test_a_fragmented_datagram_counts_once(tmp_path: Path, reader: Reader) -> None:
    datagram = struct.pack(">HHHH", A[1], B[1], 3008, 0) + bytes(3000)
    frames = _fragments(datagram, 1480)
    Pcap([(T0 + number, frame) for number, frame in enumerate(frames)]).write(tmp_path / "a.pcap")
    capture = SplitCapture(tmp_path / "a.pcap", reader, [Wanted(*A, *B)], 1500)
    assert capture.total_ip_bytes(UE) == sum(map(len, frames))
    payload = capture.direction(0, 0, 0).payload
    assert payload.segment_count.tolist() == [1]
    assert payload.ip_bytes.tolist() == [28 + 3000]
