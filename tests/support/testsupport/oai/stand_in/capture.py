# SPDX-License-Identifier: Apache-2.0
"""The file that the gNB writes with `--opt.type pcap`: its blocks as Wireshark's mac-nr, in UDP over IPv4.

As the real one, it buffers what it writes.
"""

import struct
import threading
import time
from pathlib import Path

IPV4 = 228
TDD = 2
C_RNTI = 3
UL, DL = 0, 1
SLOTS_PER_FRAME, FRAMES = 20, 1024
PORT = 9999
PADDING = b"\x3f"


class Capture:
    """A capture whose blocks are all padding."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._file = Path(path).open("wb")  # noqa: SIM115 - it stays open, as there
        self._file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, IPV4))
        self._file.flush()

    def add(self, direction, rnti, slot, count):
        """Add a block of `count` bytes; `slot` counts from the start."""
        frame, within = slot // SLOTS_PER_FRAME % FRAMES, slot % SLOTS_PER_FRAME
        context = b"mac-nr" + bytes([TDD, direction, C_RNTI])
        context += struct.pack(">BHBHBBBHH", 2, rnti, 3, 0, 6, 0, 7, frame, within)
        block = b"\x01" + (PADDING + bytes(count))[:count]
        udp_bytes = 8 + len(context) + len(block)
        packet = struct.pack(">BBHHHBBH8x", 0x45, 0, 20 + udp_bytes, 0, 0, 8, 17, 0)
        packet += struct.pack(">HHHH", PORT, PORT, udp_bytes, 0) + context + block
        with self._lock:
            seconds, ns = divmod(time.time_ns(), 10**9)
            record = struct.pack("=IIII", seconds, ns // 1000, len(packet), len(packet))
            self._file.write(record + packet)
