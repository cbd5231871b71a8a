# SPDX-License-Identifier: Apache-2.0
"""Interruptions of an analysis: clear messages, nothing lost, raw data as it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ddu.api import analyze
from ddu.console.problems import RefusedError
from testsupport.prepared import Started, command
from testsupport.synthetic_run import MS, SyntheticRun, steady, udp

HOUR_NS = 3_600_000_000_000


def checksums(run: Path) -> dict[str, str]:
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((run / "raw").rglob("*")) if file.is_file()
    }  # fmt: skip


@pytest.mark.parametrize("content", [b"hello, this is no capture", b"\x7fELF" + bytes(200)])
def test_not_a_capture(tmp_path: Path, content: bytes) -> None:
    run = steady().write(tmp_path / "run")
    (run / "raw" / "sender.pcap").write_bytes(content)
    with pytest.raises(RefusedError, match=r"sender\.pcap"):
        analyze(run)
    assert sorted(item.name for item in run.iterdir()) == ["raw", "run.json"]


def test_a_capture_without_tcp(tmp_path: Path) -> None:
    """run.json names TCP flows; the captures hold other traffic only."""
    made = SyntheticRun()
    for index in range(50):
        for capture, late in ((made.sender, 0), (made.receiver, 10)):
            packet = udp(("10.45.0.1", 53), ("10.45.0.2", 53), 100)
            capture.add(1_795_257_315_000_000_000 + (index + late) * MS, packet)
    with pytest.raises(RefusedError, match="has a payload packet in"):
        analyze(made.write(tmp_path / "run"))


def test_clocks_a_day_apart(tmp_path: Path) -> None:
    made = steady()
    made.receiver.records = [(at + 24 * HOUR_NS, packet) for at, packet in made.receiver.records]
    run = made.write(tmp_path / "run")
    manifest = json.loads((run / "run.json").read_text())
    manifest.setdefault("time", {})["offset_ns"] = None
    (run / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(RefusedError, match=r"24\.0 h apart"):
        analyze(run)


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""


def test_a_disk_that_takes_no_more_keeps_the_earlier_results(tmp_path: Path) -> None:
    """The kernel itself refuses to write files beyond 100 kB; report.html is larger."""
    run = steady().write(tmp_path / "run")
    analyze(run)
    before = checksums(run)
    summary = (run / "summary.json").read_bytes()
    page = (run / "report.html").read_bytes()
    ended = command("ddu", "analyze", run, "--bin", "50ms", changed=FULL)
    assert ended.returncode == RefusedError.exit_code, ended.stderr
    assert "results cannot be written here (File too large)" in ended.stderr
    assert (run / "summary.json").read_bytes() == summary
    assert (run / "report.html").read_bytes() == page
    assert not list(run.glob(".analysis-*"))
    assert checksums(run) == before


def test_two_analyses_at_once_leave_one_whole_result(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    before = checksums(run)
    widths = ("20ms", "50ms")
    both = [Started("ddu", "analyze", run, "--bin", width) for width in widths]
    for process in both:
        ended = process.result()
        assert ended.returncode == 0, ended.stderr
    summary = json.loads((run / "summary.json").read_text())
    rows = len((run / "tables" / "aligned.csv").read_text().splitlines()) - 1
    assert rows == {20.0: 6, 50.0: 3}[summary["bin_ms"]]
    assert f"bins of {summary['bin_ms']:g} ms" in (run / "report.html").read_text()
    assert not list(run.glob(".analysis-*"))
    assert checksums(run) == before
