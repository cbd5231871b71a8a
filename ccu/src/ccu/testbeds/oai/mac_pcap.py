# SPDX-License-Identifier: Apache-2.0
"""The transport blocks that a gNB writes for Wireshark, copied while it runs.

OpenAirInterface has these options since 2019, and buffers what it writes: the last record may be
cut off.
"""

from __future__ import annotations

import contextlib
import shutil
import struct
from pathlib import Path
from typing import BinaryIO

from ccu.testbeds.oai import container_file

NAME = "mac.pcap"
_FILE = f"tmp/{NAME}"
OPTIONS = ("--opt.type", "pcap", "--opt.path", f"/{_FILE}")
"""The gNB's, after those that every run has."""
# The formats of pcap(5), in this machine's byte order.
_FILE_HEADER_BYTES = 24
_RECORD = struct.Struct("=8xI4x")


def collect(pid: int | None, file: Path) -> list[str]:
    """Copy all whole records that the gNB, process `pid`, has written to `file`; return a sentence
    if there is none."""
    end = 0
    with (
        contextlib.suppress(FileNotFoundError),
        container_file.opened(pid, _FILE) as written,
        file.open("w+b") as copy,
    ):
        shutil.copyfileobj(written, copy)
        end = _end_of_records(copy)
        copy.truncate(end)
    if end > _FILE_HEADER_BYTES:
        return []
    file.unlink(missing_ok=True)
    return ["the gNB has written no transport blocks (--mac-pcap)"]


def _end_of_records(capture: BinaryIO) -> int:
    """Return where the last whole record ends."""
    size = capture.seek(0, 2)
    end = capture.seek(_FILE_HEADER_BYTES)
    while len(header := capture.read(_RECORD.size)) == _RECORD.size:
        next_record = end + _RECORD.size + _RECORD.unpack(header)[0]
        if next_record > size:
            break
        end = capture.seek(next_record)
    return end
