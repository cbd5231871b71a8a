# SPDX-License-Identifier: Apache-2.0
"""Foreign logs in a run: aligned to its clock with the method, refused if they are not of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from ddu.analyze import analysis_of
from ddu.api import analyze
from testsupport.foreign_logs import HOUR_NS, ss_text, wandering
from testsupport.synthetic_run import MS, T0, SyntheticRun, steady


def gnb_stdout(arrivals: np.ndarray, total: np.ndarray, pace: float) -> tuple[str, np.ndarray]:
    """A gNB whose radio time runs at `pace`, with no other time; and when it printed (ns)."""
    at = np.arange(-2_000_000_000, int(arrivals[-1]) + 2_000_000_000, int(1.28e9 / pace))
    counted = np.interp(at, arrivals, total, left=0) + 5000
    text = "".join(
        f"Frame.Slot {128 * index % 1024}.0\n"
        "UE RNTI 1a2b CU-UE-ID 1 in-sync PH 51 dB PCMAX 20 dBm, average RSRP -80 (16 meas)\n"
        f"UE 1a2b: LCID 4: TX {round(bytes_)} RX 10 bytes\n"
        for index, bytes_ in enumerate(counted)
    )
    return text, at


def write(directory: Path, run: SyntheticRun, name: str, content: str, **manifest: Any) -> Path:
    path = run.write(directory / "run", **manifest)
    file = path / "raw" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    return path


@pytest.mark.parametrize("pace", [1.0, 0.78])
def test_a_gnb_log_without_utc_is_anchored_by_its_bytes(tmp_path: Path, pace: float) -> None:
    run, arrivals, total = wandering()
    text, printed = gnb_stdout(arrivals, total, pace)
    source = {"file": "raw/oai/gnb-stdout.log", "source": "oai"}
    path = write(tmp_path, run, "oai/gnb-stdout.log", text, mac=source)
    summary = analyze(path)
    alignment = summary["alignment"]["mac"]
    assert alignment["source"] == "radio"
    assert "cross-correlation" in alignment["method"]
    assert alignment["rate"] == pytest.approx(1 / pace, rel=0.02)
    mac = pq.read_table(path / "tables" / "mac.parquet")
    starts = mac["utc_ns"].to_numpy() - T0
    error_ns = np.abs(starts - printed[: len(starts)])
    assert error_ns[len(error_ns) // 2] <= alignment["uncertainty_ns"]
    assert json.loads(mac.schema.metadata[b"ddu.alignment"])["method"] == alignment["method"]
    assert summary["cross_checks"]["mac_to_receiver_ratio"] == pytest.approx(1, rel=0.01)


def test_constant_traffic_leaves_the_files_time(tmp_path: Path) -> None:
    text, _ = gnb_stdout(np.array([0, 100 * MS]), np.array([0, 1000]), 1.0)
    source = {"file": "raw/oai/gnb-stdout.log", "source": "oai"}
    path = write(tmp_path, steady(), "oai/gnb-stdout.log", text, mac=source)
    written_ns = T0 + 2_000_000_000
    os.utime(path / "raw/oai/gnb-stdout.log", ns=(written_ns, written_ns))
    alignment = analysis_of(path).summary["alignment"]["mac"]
    assert "last modification" in alignment["method"]
    assert alignment["uncertainty_ns"] >= 1_000_000_000


def test_a_mac_log_of_another_run_is_refused(tmp_path: Path) -> None:
    path = steady().write(tmp_path / "run", mac={"file": "raw/mac.csv", "source": "nr-link"})
    at = T0 - 24 * HOUR_NS
    (path / "raw" / "mac.csv").write_text(
        f"utc_ns,duration_ns,ue,mac_dl_mcs\n{at},10000000,0,20\n{at + 10 * MS},10000000,0,20\n"
    )
    analysis = analysis_of(path)
    assert "of another run" in " ".join(analysis.summary["verdict_reasons"])
    assert analysis.summary["verdict"] == "degraded"
    assert "mac_dl_mcs" not in analysis.tables["aligned"]


@pytest.mark.parametrize("zone_h", [0, 4, -5])
def test_ss_text_of_another_zone(tmp_path: Path, zone_h: int) -> None:
    sockets = [{"host": "server", "file": "raw/core.cc", "interval_ms": 20, "source": "ss"}]
    path = write(tmp_path, steady(), "core.cc", ss_text(zone_h), sockets=sockets)
    analysis = analysis_of(path, bin_ns=20 * MS)
    cwnd = analysis.tables["aligned"]["tcp_cwnd_bytes"].to_numpy() / 1448
    assert cwnd[:4].tolist() == [11, 12, 13, 14]
    alignment = analysis.summary["alignment"]["sockets"]
    assert f"UTC{'-' if zone_h < 0 else '+'}{abs(zone_h):02d}:00" in alignment["method"]
