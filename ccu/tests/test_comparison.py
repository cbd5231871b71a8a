# SPDX-License-Identifier: Apache-2.0
"""The raw data of two runs, with those in folders: QUIC's logs were not compared."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ccu.runs.comparison import first_difference


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs with the same raw data, but for what is about the machine."""
    made = tmp_path / "first", tmp_path / "second"
    for run in made:
        for name in ("mac.csv", "quic/f0-sender.sqlog"):
            (run / "raw" / name).parent.mkdir(parents=True, exist_ok=True)
            (run / "raw" / name).write_text("the same")
        (run / "raw/logs").mkdir()
        for name in ("logs/nr-link.out", "virtual.json"):
            (run / "raw" / name).write_text(run.name)
        (run / "run.json").write_text("{}")
    return made


def test_files_in_folders_count(runs: tuple[Path, Path]) -> None:
    assert first_difference(*runs, {"virtual.json"}) is None
    log = runs[1] / "raw/quic/f0-sender.sqlog"
    log.write_text("the sane")
    expected = "raw/quic/f0-sender.sqlog differs from byte 6 on"
    assert first_difference(*runs, {"virtual.json"}) == expected
    log.unlink()
    only = f"raw/quic/f0-sender.sqlog is only in {runs[0]}"
    assert first_difference(*runs, {"virtual.json"}) == only


def test_files_in_folders_that_were_dropped_count(runs: tuple[Path, Path]) -> None:
    names = ("raw/quic/f0-sender.sqlog", "raw/logs/nr-link.out")
    dropped = []
    for name in names:
        digest = hashlib.sha256((runs[0] / name).read_bytes()).hexdigest()
        dropped.append({"file": name, "bytes": 8, "sha256": digest})
        (runs[0] / name).unlink()
    content = {"kept": {"level": "summary", "dropped": dropped}}
    (runs[0] / "run.json").write_text(json.dumps(content))
    assert first_difference(*runs, {"virtual.json"}) is None
    (runs[1] / "raw/quic/f0-sender.sqlog").write_text("another")
    expected = "raw/quic/f0-sender.sqlog differs; of the first, only the SHA-256 was kept"
    assert first_difference(*runs, {"virtual.json"}) == expected
