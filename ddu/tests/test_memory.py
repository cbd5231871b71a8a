# SPDX-License-Identifier: Apache-2.0
"""The memory that an analysis takes is said before it is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddu.run import memory


def test_as_was_measured() -> None:
    """docs/benchmarks/ddu.md: 26.9 million packets took 1.59 GB."""
    most = memory._ANY_RUN_BYTES + 26_879_078 * memory._BYTES_A_PACKET
    assert most == pytest.approx(1.59e9, rel=0.1)


def test_a_run_that_is_too_large_for_the_machine_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "meminfo").write_text("MemTotal: 8000000 kB\nMemAvailable:    1000000 kB\n")
    monkeypatch.setattr(memory, "_MEMORY", tmp_path / "meminfo")
    assert memory.shortage(tmp_path) == ""
    with (tmp_path / "raw/sender.pcap").open("wb") as sparse:
        sparse.truncate(6_800_000_000)
    assert "may need 5.3 GB of memory, and 1.0 GB are available" in memory.shortage(tmp_path)
