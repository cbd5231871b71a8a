# SPDX-License-Identifier: Apache-2.0
"""Run directories whose truth is known, because the test wrote every packet of them."""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ddu.flows.observe import ObservedFlow, observe
from ddu.readers.recording import read_recording
from ddu.run.manifest import read_manifest

T0 = 1_795_257_315_000_000_000
SERVER, UE = "10.45.0.1", "10.45.0.2"
MS = 1_000_000
SYN, ACK, PSH = 0x02, 0x10, 0x08


@dataclass
class Pcap:
    """A nanosecond pcap of raw IP packets, written in order of time."""

    records: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, utc_ns: int, packet: bytes) -> None:
        self.records.append((utc_ns, packet))

    def write(self, file: Path, snaplen: int = 128) -> None:
        content = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snaplen, 101)]
        for utc_ns, packet in sorted(self.records, key=lambda record: record[0]):
            kept = packet[:snaplen]
            stamp = divmod(utc_ns, 1_000_000_000)
            content.append(struct.pack("<IIII", *stamp, len(kept), len(packet)) + kept)
        file.write_bytes(b"".join(content))


def tcp(
    src: tuple[str, int],
    dst: tuple[str, int],
    seq: int,
    ack: int,
    payload: int = 0,
    flags: int = ACK,
    ts: tuple[int, int] = (0, 0),
) -> bytes:
    """An IPv4 packet of 52 bytes of headers, timestamps option included."""
    options = struct.pack("!BBBBII", 1, 1, 8, 10, *ts)
    header = struct.pack(
        "!HHIIBBHHH", src[1], dst[1], seq % 2**32, ack % 2**32, 8 << 4, flags, 65535, 0, 0
    )
    length = 20 + len(header) + len(options) + payload
    addresses = socket.inet_aton(src[0]) + socket.inet_aton(dst[0])
    ip = struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, 6, 0) + addresses
    return ip + header + options + bytes(payload)


def udp(src: tuple[str, int], dst: tuple[str, int], payload: int) -> bytes:
    """An IPv4 packet of 28 bytes of headers."""
    header = struct.pack("!HHHH", src[1], dst[1], 8 + payload, 0)
    addresses = socket.inet_aton(src[0]) + socket.inet_aton(dst[0])
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 28 + payload, 0, 0, 64, 17, 0) + addresses
    return ip + header + bytes(payload)


@dataclass
class SyntheticRun:
    """Flows over two captures; `write` makes the directory. Sequence numbers count from 0."""

    sender: Pcap = field(default_factory=Pcap)
    receiver: Pcap = field(default_factory=Pcap)
    ccs: tuple[str, ...] = ("cubic",)
    isn: int = 2**32 - 5000
    """So near to its end that the sequence numbers wrap in every test."""

    def ends(self, flow: int) -> tuple[tuple[str, int], tuple[str, int]]:
        return (SERVER, 40001 + flow), (UE, 5201 + flow)

    def data(
        self, at: int, seq: int, size: int, ts: int, arrives: int | None, flow: int = 0
    ) -> None:
        """A data packet sent `at` (ns from T0) that arrives then, or is lost (None)."""
        packet = tcp(*self.ends(flow), self.isn + 1 + seq, 1, size, ACK | PSH, (ts, 1))
        self.sender.add(T0 + at, packet)
        if arrives is not None:
            self.receiver.add(T0 + arrives, packet)

    def ack(self, at: int, number: int, ecr: int, arrives: int, flow: int = 0) -> None:
        source, sink = self.ends(flow)
        packet = tcp(sink, source, 1, self.isn + 1 + number, 0, ACK, (9, ecr))
        self.receiver.add(T0 + at, packet)
        self.sender.add(T0 + arrives, packet)

    def handshake(self, flow: int = 0) -> None:
        packet = tcp(*self.ends(flow), self.isn, 0, 0, SYN, (1, 0))
        self.sender.add(T0 - 50 * MS, packet)
        self.receiver.add(T0 - 40 * MS, packet)

    def control(self, size: int) -> None:
        """A packet of iperf3's control connection, to the data flow's port."""
        packet = tcp((SERVER, 50999), (UE, 5201), 7, 7, size)
        self.sender.add(T0 + MS, packet)
        self.receiver.add(T0 + 11 * MS, packet)

    def manifest(self) -> dict[str, Any]:
        flows = []
        for index, cc in enumerate(self.ccs):
            (server, sport), (ue, dport) = self.ends(index)
            flows.append(
                {
                    "id": f"f{index}",
                    "cc": cc,
                    "cc_read_back": cc,
                    "direction": "dl",
                    "start_s": 0.0,
                    "sender": {"host": "server", "address": server, "port": sport},
                    "receiver": {"host": "ue", "address": ue, "port": dport},
                    "control_port": dport,
                }
            )
        captures = [
            {"host": host, "role": role, "file": f"raw/{role}.pcap", "packets_dropped_count": 0}
            for host, role in (("server", "sender"), ("ue", "receiver"))
        ]
        experiment = {"cc": self.ccs[0], "direction": "dl", "prb": 106, "scenario": "static"}
        return {
            "schema_version": 1,
            "run": "synthetic",
            "status": "finished",
            "experiment": experiment | {"rtt_ms": 20.0},
            "hosts": {"server": {"mtu_bytes": 1500}, "ue": {"mtu_bytes": 1500}},
            "flows": flows,
            "captures": captures,
            "verdict": "valid",
            "verdict_reasons": [],
        }

    def write(self, directory: Path, **changes: Any) -> Path:
        (directory / "raw").mkdir(parents=True)
        self.sender.write(directory / "raw" / "sender.pcap")
        self.receiver.write(directory / "raw" / "receiver.pcap")
        (directory / "run.json").write_text(json.dumps(self.manifest() | changes))
        return directory


def steady(packets: int = 100, every_ns: int = MS) -> SyntheticRun:
    """1448 payload bytes each ms, 10 ms of delay each way, an ACK each; nothing lost."""
    run = SyntheticRun()
    run.handshake()
    for index in range(packets):
        sent = index * every_ns
        run.data(sent, index * 1448, 1448, 100 + index, sent + 10 * MS)
        run.ack(sent + 10 * MS, (index + 1) * 1448, 100 + index, sent + 20 * MS)
    return run


def one_sided(run: SyntheticRun, directory: Path, role: str, **changes: Any) -> Path:
    """The run without the other side's file, which run.json does not name either."""
    captures = [each for each in run.manifest()["captures"] if each["role"] == role]
    path = run.write(directory, captures=captures, **changes)
    (path / "raw" / f"{'receiver' if role == 'sender' else 'sender'}.pcap").unlink()
    return path


def observed_flows(run: Path) -> tuple[ObservedFlow, ...]:
    """The flows of a run whose hosts share a clock."""
    recording = read_recording(run, read_manifest(run), "native")
    return observe(recording.manifest.flows, recording.captures)[0]
