# SPDX-License-Identifier: Apache-2.0
"""Generated run directories of any length and rate: what the benchmarks of ddu read.

    python -m testsupport.gigabit DIRECTORY [--seconds 100] [--gbps 1] [--flows 1]

Per flow: paced segments of 1448 bytes, a path of 10 ms each way with a queue that swings between 0
and 15 ms, random losses that are retransmitted 30 ms later, an ACK for every second packet with
SACK over the holes. The captures are as `ccu` makes them: ns, raw IP, 128 bytes of each packet.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

T0 = 1_795_257_315_000_000_000
SERVER, UE = "10.45.0.1", "10.45.0.2"
MS = 1_000_000
MSS, SNAPLEN = 1448, 128
DATA_RECORD, ACK_RECORD, SACK_RECORD = 16 + SNAPLEN, 16 + 52, 16 + 64
CHUNK_NS = 500 * MS
ACK, PSH_ACK = 0x10, 0x18


@dataclass
class Packets:
    """One direction of a flow: when each packet passes, and what its header says."""

    utc_ns: Int
    seq: Int
    ack: Int
    sack_begin: Int
    sack_end: Int
    tsval: Int
    tsecr: Int
    payload: bool

    def between(self, begin: int, end: int) -> Packets:
        first, last = np.searchsorted(self.utc_ns, [begin, end])
        columns = (self.seq, self.ack, self.sack_begin, self.sack_end, self.tsval, self.tsecr)
        return Packets(self.utc_ns[first:last], *(c[first:last] for c in columns), self.payload)

    def at(self, utc_ns: Int, kept: npt.NDArray[np.bool_]) -> Packets:
        """The same packets at the other end of the path, in order of arrival."""
        order = np.flatnonzero(kept)[np.argsort(utc_ns[kept], kind="stable")]
        columns = (self.seq, self.ack, self.sack_begin, self.sack_end, self.tsval, self.tsecr)
        return Packets(utc_ns[order], *(c[order] for c in columns), self.payload)


@dataclass
class Flow:
    """Both directions at both ends."""

    at_sender: tuple[Packets, Packets]
    at_receiver: tuple[Packets, Packets]


def flow(seconds: float, bps: float, loss: float, start_ns: int, seed: int) -> Flow:
    """The packets of one transfer, as captures see them."""
    draw = np.random.default_rng(seed)
    gap_ns = (MSS + 52) * 8e9 / bps
    count = max(int(seconds * 1e9 / gap_ns), 1)
    first = T0 + start_ns + (np.arange(count) * gap_ns).astype(np.int64)
    lost = draw.random(count) < loss
    lost[-1] = False
    again = np.flatnonzero(lost)
    sent_at = np.concatenate([first, first[again] + 30 * MS])
    number = np.concatenate([np.arange(count), again])
    order = np.argsort(sent_at, kind="stable")
    sent_at, number = sent_at[order], number[order]
    survives = np.concatenate([~lost, np.ones(len(again), dtype=bool)])[order]
    zero = np.zeros(len(number), dtype=np.int64)
    forth = Packets(sent_at, number * MSS, zero, zero, zero, sent_at // MS, zero + 1, True)
    arrived = forth.at(sent_at + _delay(sent_at), survives)
    back = _acks(arrived, count)
    returned = back.at(back.utc_ns + 10 * MS, np.ones(len(back.utc_ns), dtype=bool))
    return Flow((forth, returned), (arrived, back))


def _delay(at: Int) -> Int:
    """10 ms and a queue that swings once in 2 s, slowly enough to keep the order of packets."""
    swing = 7.5 * MS * (1 - np.cos(2 * np.pi * (at - T0) / 2e9))
    return 10 * MS + swing.astype(np.int64)


def _acks(arrived: Packets, count: int) -> Packets:
    number = arrived.seq // MSS
    when = np.full(count, np.iinfo(np.int64).max)
    when[number[::-1]] = arrived.utc_ns[::-1]
    readable = np.maximum.accumulate(when)
    highest = np.maximum.accumulate(number) + 1
    cumulative = np.searchsorted(readable, arrived.utc_ns, side="right")
    holes = highest > cumulative
    chosen = holes | (np.arange(len(number)) % 2 == 1)
    chosen[-1] = True
    at, cumulative, highest, holes = (
        c[chosen] for c in (arrived.utc_ns, cumulative, highest, holes)
    )
    begin = np.where(holes, (cumulative + 1) * MSS, 0)
    end = np.where(holes, highest * MSS, 0)
    zero = np.zeros(len(at), dtype=np.int64)
    return Packets(at, zero, cumulative * MSS, begin, end, at // MS, arrived.tsval[chosen], False)


@dataclass
class Names:
    """The constant fields of all headers of a direction."""

    src: tuple[str, int]
    dst: tuple[str, int]
    isn: int
    ack_isn: int


def records(packets: Packets, names: Names) -> Iterator[tuple[Int, Bytes]]:
    """Times and pcap records, one table of bytes for each length of record."""
    if packets.payload:
        yield packets.utc_ns, _table(packets, names, DATA_RECORD, 52 + MSS, False)
        return
    for with_sack, length in ((False, ACK_RECORD), (True, SACK_RECORD)):
        some = packets.at(packets.utc_ns, (packets.sack_end > 0) == with_sack)
        yield some.utc_ns, _table(some, names, length, length - 16, with_sack)


def _table(packets: Packets, names: Names, length: int, ip_bytes: int, with_sack: bool) -> Bytes:
    template = _template(names, packets.payload, ip_bytes, with_sack)
    row = np.frombuffer(template[:length].ljust(length, b"\0"), dtype=np.uint8)
    table = np.tile(row, (len(packets.utc_ns), 1))
    seconds, ns = np.divmod(packets.utc_ns, 1_000_000_000)
    for at, numbers in ((0, seconds), (4, ns)):
        table[:, at : at + 4] = numbers.astype("<u4")[:, None].view(np.uint8)
    fields = [(40, packets.seq + names.isn), (44, packets.ack + names.ack_isn)]
    fields += [(60, packets.tsval), (64, packets.tsecr)]
    if with_sack:
        fields += [(72, packets.sack_begin + names.ack_isn)]
        fields += [(76, packets.sack_end + names.ack_isn)]
    for at, numbers in fields:
        table[:, at : at + 4] = (numbers % 2**32).astype(">u4")[:, None].view(np.uint8)
    return table


def _template(names: Names, payload: bool, ip_bytes: int, with_sack: bool) -> bytes:
    """A record without times and numbers."""
    words, flags = (11 if with_sack else 8) << 4, PSH_ACK if payload else ACK
    record = struct.pack("<IIII", 0, 0, min(ip_bytes, SNAPLEN), ip_bytes)
    record += struct.pack("!BBHHHBBH", 0x45, 0, ip_bytes, 0, 0x4000, 64, 6, 0)
    record += socket.inet_aton(names.src[0]) + socket.inet_aton(names.dst[0])
    record += struct.pack("!HHIIBBHHH", names.src[1], names.dst[1], 0, 0, words, flags, 65535, 0, 0)
    record += bytes([1, 1, 8, 10]) + bytes(8)
    return record + (bytes([1, 1, 5, 10]) + bytes(8) if with_sack else b"")


def write_capture(file: Path, sides: list[tuple[Packets, Packets]]) -> int:
    """A pcap of all flows in order of time, a chunk of time after the other; gives its packets."""
    begin = min(int(side[0].utc_ns[0]) for side in sides)
    end = max(int(packets.utc_ns[-1]) for side in sides for packets in side if len(packets.utc_ns))
    written = 0
    with file.open("wb") as stream:
        stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAPLEN, 101))
        chunk_ns = CHUNK_NS * len(sides)  # few packets of each flow would be a table each
        for at in range(begin, end + 1, chunk_ns):
            groups = [
                group
                for index, side in enumerate(sides)
                for way, packets in enumerate(side)
                for group in records(packets.between(at, at + chunk_ns), _names(index, way))
            ]
            stream.write(_merged(groups))
            written += sum(len(times) for times, _ in groups)
    return written


def _names(index: int, way: int) -> Names:
    """Initial sequence numbers are near enough to 2³² to wrap."""
    server, ue = (SERVER, 20_001 + index), (UE, 5201)
    isn, ack_isn = 2**32 - 100_000 - index, 7_000 + index
    return Names(server, ue, isn, ack_isn) if way == 0 else Names(ue, server, ack_isn, isn)


def _merged(groups: list[tuple[Int, Bytes]]) -> bytes:
    times = np.concatenate([times for times, _ in groups])
    lengths = np.concatenate([np.full(len(times), table.shape[1]) for times, table in groups])
    order = np.argsort(times, kind="stable")
    begins = np.empty(len(times), dtype=np.int64)
    begins[order] = np.cumsum(lengths[order]) - lengths[order]
    merged = np.empty(int(lengths.sum()), dtype=np.uint8)
    row = 0
    for times, table in groups:
        places = begins[row : row + len(times), None] + np.arange(table.shape[1])
        merged[places] = table
        row += len(times)
    return merged.tobytes()


def write_run(directory: Path, seconds: float, gbps: float, flows: int, loss: float) -> int:
    """A run directory that `ddu analyze` reads; gives the packets of both captures."""
    made = [flow(seconds, gbps * 1e9 / flows, loss, index * 1000, index) for index in range(flows)]
    (directory / "raw").mkdir(parents=True)
    (directory / "run.json").write_text(json.dumps(_manifest(directory.name, flows), indent=1))
    raw = directory / "raw"
    sent = write_capture(raw / "sender.pcap", [one.at_sender for one in made])
    return sent + write_capture(raw / "receiver.pcap", [one.at_receiver for one in made])


def _manifest(name: str, flows: int) -> dict[str, object]:
    captures = [
        {"host": host, "role": role, "file": f"raw/{role}.pcap", "packets_dropped_count": 0}
        for host, role in (("server", "sender"), ("ue", "receiver"))
    ]
    listed = [
        {
            "id": f"f{index}", "cc": "cubic", "direction": "dl", "start_s": 0.0,
            "sender": {"host": "server", "address": SERVER, "port": 20_001 + index},
            "receiver": {"host": "ue", "address": UE, "port": 5201},
            "control_port": 5201,
        }
        for index in range(flows)
    ]  # fmt: skip
    return {
        "schema_version": 1, "run": name, "status": "finished",
        "experiment": {"cc": "cubic", "direction": "dl", "scenario": "generated", "rtt_ms": 20.0},
        "hosts": {"server": {"mtu_bytes": 1500}, "ue": {"mtu_bytes": 1500}},
        "flows": listed, "captures": captures, "verdict": "valid", "verdict_reasons": [],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--gbps", type=float, default=1.0)
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--loss", type=float, default=0.0005)
    chosen = parser.parse_args()
    packets = write_run(chosen.directory, chosen.seconds, chosen.gbps, chosen.flows, chosen.loss)
    print(f"{packets} packets in {chosen.directory}")


if __name__ == "__main__":
    main()
