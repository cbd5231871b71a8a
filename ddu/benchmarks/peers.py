# SPDX-License-Identifier: Apache-2.0
"""The measurement of packets per CPU second of ddu's readers and others, on the same file."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dpkt

from ddu.readers.packets.capture import read_packets
from ddu.readers.packets.connections import Wanted
from ddu.readers.packets.native.stream import PacketStream
from ddu.readers.packets.split import SplitCapture

ROUNDS = 3
EVERYTHING = [Wanted("10.45.0.1", None, "10.45.0.2", 5201)]
_TSHARK_FIELDS = (
    "frame.time_epoch", "ip.src", "ip.dst", "ip.len", "tcp.srcport", "tcp.dstport", "tcp.seq_raw",
    "tcp.ack_raw", "tcp.flags", "tcp.len", "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr", "tcp.options.sack_le", "tcp.options.sack_re",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """The result of a reader."""

    name: str
    packets_per_cpu_s: float | None
    """None means that the program is not installed."""


def readings(file: Path, packets: int) -> list[Reading]:
    """Measure every reader, ours first; the slow ones once, as one round takes them seconds."""
    ours = {
        "ddu, connections split (what `ddu analyze` reads)": lambda: _split(file),
        "ddu, stream of all columns": lambda: _stream(file),
        "ddu, whole table of all columns": lambda: read_packets(file).packets.num_rows,
    }
    measured = [Reading(name, _best(read, packets)) for name, read in ours.items()]
    measured.append(Reading("dpkt, shortest loop with TCP options", _once(lambda: _dpkt(file))))
    measured.append(
        Reading(
            "dpkt, the same columns (`--reader dpkt`)",
            _once(lambda: read_packets(file, reader="dpkt").packets.num_rows),
        )
    )
    fields = [part for field in _TSHARK_FIELDS for part in ("-e", field)]
    measured.append(
        _program(
            "tshark, the same fields",
            ["tshark", "-n", "-r", file, "-T", "fields", *fields],
            packets,
        )
    )
    measured.append(_program("tcptrace", ["tcptrace", "-n", file], packets))
    measured.append(
        _program("tcptrace with RTT and statistics", ["tcptrace", "-nlr", file], packets)
    )
    return measured


_APART = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
sys.exit(code)
"""


def cpu_s_of(command: list[str | Path]) -> tuple[float, int]:
    """CPU seconds, user and system, of a program, and the most memory that it had (bytes).

    A small process starts it: a child's most memory begins with its parent's.
    """
    apart = [sys.executable, "-c", _APART, *command]
    ran = subprocess.run(apart, capture_output=True, text=True, errors="replace", check=False)
    if ran.returncode:
        raise SystemExit(f"{command[0]} failed: {ran.stderr.strip()[-500:]}")
    cpu_s, memory = ran.stdout.split()
    return float(cpu_s), int(memory)


def _split(file: Path) -> int:
    capture = SplitCapture(file, "native", EVERYTHING, 1500)
    return int(capture.connections["packets_count"].sum())


def _stream(file: Path) -> int:
    return sum(batch.num_rows for batch in PacketStream(file))


def _dpkt(file: Path) -> int:
    count = 0
    with file.open("rb") as stream:
        for _time, frame in dpkt.pcap.Reader(stream):
            dpkt.tcp.parse_opts(dpkt.ip.IP(frame).data.opts)
            count += 1
    return count


def _best(read: Callable[[], int], packets: int) -> float:
    """Return the best of several rounds: disturbances only make a round slower."""
    rates = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        if read() != packets:
            raise SystemExit("a reader gave another number of packets")
        rates.append(packets / (time.process_time() - begin))
    return max(rates)


def _once(read: Callable[[], int]) -> float:
    begin = time.process_time()
    count = read()
    return count / (time.process_time() - begin)


def _program(name: str, command: list[str | Path], packets: int) -> Reading:
    if not shutil.which(str(command[0])):
        return Reading(f"{name} (not installed)", None)
    return Reading(name, packets / cpu_s_of(command)[0])
