# SPDX-License-Identifier: Apache-2.0
"""Packets per CPU second of the native reader and of dpkt, on the same generated capture.

    python ddu/packets/benches/against_dpkt.py [PACKETS]

The capture is like ours: ns, raw IP, 128 bytes of each packet, four TCP connections with timestamps
and now and then SACK. dpkt is measured twice: in the shortest loop that looks at the headers and
parses the options, and as our reader of the same columns.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dpkt

from ddu.packets import PacketStream, read_packets

SNAPLEN, LINKTYPE_RAW = 128, 101
SERVER, UE = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
ROUNDS = 3


def segment(src: bytes, dst: bytes, number: int, payload_bytes: int, sack: bytes) -> bytes:
    ports = (5201, 40_000 + number % 4) if payload_bytes else (40_000 + number % 4, 5201)
    options = b"\x01\x01\x08\x0a" + struct.pack(">II", number, number) + sack
    words = 5 + len(options) // 4
    ip_bytes = 20 + 4 * words + payload_bytes
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, ip_bytes, 0, 0x4000, 64, 6, 0, src, dst)
    tcp = struct.pack(">HHIIHHHH", *ports, number, number, words << 12 | 0x10, 500, 0, 0)
    return ip + tcp + options + bytes(payload_bytes)


def generate(path: Path, packets: int) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, SNAPLEN, LINKTYPE_RAW))
        for number in range(packets):
            sack = b"\x01\x01\x05\x0a" + bytes(8) if number % 20 == 1 else b""
            if number % 2:
                packet = segment(UE, SERVER, number // 2, 0, sack)
            else:
                packet = segment(SERVER, UE, number // 2, 1448, b"")
            captured = packet[:SNAPLEN]
            time_ns = divmod(1_700_000_000 * 10**9 + number * 5000, 10**9)
            file.write(struct.pack("<IIII", *time_ns, len(captured), len(packet)) + captured)


def dpkt_loop(path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for _time, frame in dpkt.pcap.Reader(file):
            tcp = dpkt.ip.IP(frame).data
            dpkt.tcp.parse_opts(tcp.opts)
            count += 1
    return count


def per_cpu_second(read: Callable[[], int]) -> float:
    """The best of some rounds: what disturbs a measurement only makes it slower."""
    rates = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        count = read()
        rates.append(count / (time.process_time() - begin))
    return max(rates)


def main() -> None:
    packets = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    with tempfile.TemporaryDirectory() as directory:
        large, small = Path(directory) / "large.pcap", Path(directory) / "small.pcap"
        generate(large, packets)
        generate(small, packets // 20)
        loop = per_cpu_second(lambda: dpkt_loop(small))
        readings = {
            "native, whole table": lambda: read_packets(large).packets.num_rows,
            "native, stream": lambda: sum(batch.num_rows for batch in PacketStream(large)),
            "dpkt, same columns": lambda: read_packets(small, reader="dpkt").packets.num_rows,
        }
        print(f"{'dpkt, shortest loop':20} {loop:12,.0f} packets/CPU s")
        for name, read in readings.items():
            rate = per_cpu_second(read)
            print(f"{name:20} {rate:12,.0f} per CPU s, {rate / loop:6.1f} times the shortest loop")


if __name__ == "__main__":
    main()
