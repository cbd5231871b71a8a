# SPDX-License-Identifier: Apache-2.0
"""Files beyond 4 GB in memory that does not grow with them, and files that grow."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from ddu.readers.packets.native.stream import PacketStream
from testsupport.synthetic_run import T0, Pcap, tcp

GAP_BYTES = 8 << 20
"""The fields of a frame that is not a packet: zeros."""
GAPS = 513
"""4.3 GB of them."""
MOST_BYTES = 500_000_000
"""Python, Arrow, one batch, one record: far below the file's size."""

READ = """
import re, sys
from ddu.readers.packets.native.stream import PacketStream
stream = PacketStream(sys.argv[1])
times = [t for batch in stream for t in batch["utc_ns"].to_pylist()]
print(times, stream.skipped_count, stream.truncated_at)
# Not ru_maxrss, which counts the memory of the process that started this one.
print(1024 * int(re.search("VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]))
"""


def record(utc_ns: int, frame: bytes) -> bytes:
    seconds, ns = divmod(utc_ns, 10**9)
    return struct.pack("<IIII", seconds, ns, len(frame), len(frame)) + frame


def pieces() -> tuple[bytes, bytes, bytes]:
    """The file's beginning with a packet, a gap, and a packet at its end with a cut one behind."""
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
    packet = tcp(("10.0.0.1", 1), ("10.0.0.2", 2), 1, 1, 100)
    gap = struct.pack("<IIII", 1, 0, GAP_BYTES, GAP_BYTES)
    return header + record(T0, packet), gap, record(T0 + 9, packet) + record(T0 + 10, packet)[:-1]


def write(path: Path, form: str) -> int:
    """Gives the offset of the record that is cut."""
    begin, gap, end = pieces()
    size = len(begin) + GAPS * (len(gap) + GAP_BYTES) + len(end)
    pack = gzip.compress if form == "gzip" else _zstd
    path.write_bytes(pack(begin) + pack(gap + bytes(GAP_BYTES)) * GAPS + pack(end))
    return size - (len(end) - 1) // 2


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


@pytest.mark.parametrize("form", ["zstd", "gzip"])
def test_beyond_four_gigabytes_in_bounded_memory(tmp_path: Path, form: str) -> None:
    path = tmp_path / "large.pcap"
    cut_at = write(path, form)
    assert cut_at > 1 << 32
    command = [sys.executable, "-c", READ, str(path)]
    printed, memory = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert printed == f"{[T0, T0 + 9]} {GAPS} {cut_at}"
    assert int(memory) < MOST_BYTES


def test_a_file_is_followed_until_its_end_is_told(tmp_path: Path) -> None:
    """A writer that stops in the midst of records, as tcpdump's buffer makes it."""
    pcap = Pcap([(T0 + n, tcp(("10.0.0.1", 1), ("10.0.0.2", 2), n, 1, n)) for n in range(200)])
    pcap.write(tmp_path / "whole.pcap")
    content = (tmp_path / "whole.pcap").read_bytes()
    path, ended = tmp_path / "growing.pcap", threading.Event()
    path.write_bytes(content[:24])

    def grow() -> None:
        with path.open("ab") as file:
            for at in range(24, len(content), 1001):
                file.write(content[at : at + 1001])
                file.flush()
                time.sleep(0.002)
        ended.set()

    writer = threading.Thread(target=grow)
    writer.start()
    stream = PacketStream(path, batch_packets=64)
    times, is_last = [], False
    while not is_last:
        is_last = ended.is_set()  # asked before the look: what was written until then is seen by it
        times += [t for batch in stream for t in batch["utc_ns"].to_pylist()]
    writer.join()
    assert times == [T0 + n for n in range(200)]
    assert stream.truncated_at is None
