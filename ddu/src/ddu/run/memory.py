# SPDX-License-Identifier: Apache-2.0
"""The memory of this machine, and what of it the analysis of a run takes, by its captures."""

from __future__ import annotations

from math import inf
from pathlib import Path

_ANY_RUN_BYTES = 200e6
_BYTES_A_PACKET = 51
"""docs/benchmarks/ddu.md, growth with packets: 1.83 GB for 32.4 million."""
_CAPTURED_BYTES_A_PACKET = 68
"""The headers of IPv4 and TCP with a timestamp, and the record's: what virtual time keeps."""
_MEMORY = Path("/proc/meminfo")


def available_bytes() -> float:
    """Return how much memory programs can still have (MemAvailable of proc_meminfo(5))."""
    lines = (line.split() for line in _MEMORY.read_text().splitlines())
    return next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), inf)


def expected_bytes(run: Path) -> float:
    """Return about how much memory `ddu analyze` takes; whole packets take less."""
    captures = [*run.glob("raw/*.pcap"), *run.glob("raw/*.pcapng")]
    packets = sum(file.stat().st_size for file in captures) / _CAPTURED_BYTES_A_PACKET
    return _ANY_RUN_BYTES + packets * _BYTES_A_PACKET


def shortage(run: Path) -> str:
    """Return a sentence if the analysis may take more memory than is available; else nothing."""
    available, needed = available_bytes(), expected_bytes(run)
    if needed <= available:
        return ""
    return (
        f"{run}: the analysis may need {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} "
        "GB are available: end other programs, or analyse it on another machine"
    )
