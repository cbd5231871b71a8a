# SPDX-License-Identifier: Apache-2.0
"""The memory that the analysis of a run takes, by the size of its captures."""

from __future__ import annotations

from pathlib import Path

_ANY_RUN_BYTES = 200e6
_BYTES_A_PACKET = 51
"""docs/benchmarks/ddu.md, growth with packets: 1.83 GB for 32.4 million."""
_CAPTURED_BYTES_A_PACKET = 68
"""The headers of IPv4 and TCP with a timestamp, and the record's: what virtual time keeps."""
_MEMORY = Path("/proc/meminfo")


def expected_bytes(run: Path) -> float:
    """Return about how much memory `ddu analyze` takes; whole packets take less."""
    captures = [*run.glob("raw/*.pcap"), *run.glob("raw/*.pcapng")]
    packets = sum(file.stat().st_size for file in captures) / _CAPTURED_BYTES_A_PACKET
    return _ANY_RUN_BYTES + packets * _BYTES_A_PACKET


def shortage(run: Path) -> str:
    """Return a sentence if the analysis may take more memory than is available; else nothing."""
    lines = (line.split() for line in _MEMORY.read_text().splitlines())
    available = next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), 0)
    needed = expected_bytes(run)
    if not available or needed <= available:
        return ""
    return (
        f"{run}: the analysis may need {needed / 1e9:.1f} GB of memory, and {available / 1e9:.1f} "
        "GB are available: end other programs, or analyse it on another machine"
    )
