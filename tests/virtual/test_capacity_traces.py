# SPDX-License-Identifier: Apache-2.0
"""A trace of delivery opportunities lets exactly its packets pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from testsupport.virtual_time import VirtualRun

TRACE_MS = 97
EACH_MS = 3
"""Opportunities in each millisecond of the trace: 36 Mbit/s."""


def mahimahi(file: Path, each_ms: int) -> dict[str, Any]:
    """A trace with so many opportunities in every millisecond."""
    file.write_text("".join(f"{ms}\n" * each_ms for ms in range(1, TRACE_MS + 1)))
    return {"trace": {"file": file.name, "format": "mahimahi"}}


def test_a_full_queue_gets_exactly_the_packets_of_the_trace(
    virtual: Callable[..., VirtualRun], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    capacity = {"dl": mahimahi(folder / "down", EACH_MS), "ul": mahimahi(folder / "up", 1)}
    udp = {"transport": "udp", "direction": "dl", "duration_s": 2, "rate_bps": 80e6}
    run = virtual({"flows": [udp]}, scenario={"capacity": capacity}).mac()
    start_ns = int(run[0]["utc_ns"])

    def passed(row: dict[str, str], since: dict[str, str]) -> float:
        return (int(row["mac_dl_sdu_bytes"]) - int(since["mac_dl_sdu_bytes"])) / 1500

    def stamps_before(row: dict[str, str]) -> int:
        """Opportunities until the row begins; the first is at 1 ms."""
        ms, rest = divmod(int(row["utc_ns"]) - start_ns, 1_000_000)
        assert rest == 0
        return max(0, ms - 1) * EACH_MS

    full = 0
    for before, row, after in zip(run, run[1:], run[2:], strict=False):
        if min(int(one["mac_dl_rlc_queue_packets"]) for one in (before, row)) > 50:
            full += 1
            # A row has what passed in the interval that begins at its time.
            assert passed(row, before) == stamps_before(after) - stamps_before(row)
    assert full > 150
