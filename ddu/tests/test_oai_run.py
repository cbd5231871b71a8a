# SPDX-License-Identifier: Apache-2.0
"""A run whose MAC table comes from OAI's own log."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from testsupport.synthetic_run import MS, T0, steady

READINGS = 5
EVERY_NS = 25 * MS


def log(bytes_per_reading: int, last: str = "") -> str:
    """Readings from 25 ms before the first packet, so many bytes on the data bearer in each."""
    text = ""
    for index in range(READINGS + 1):
        seconds, rest = divmod(T0 + (index - 1) * EVERY_NS, 1_000_000_000)
        text += (
            f"### {seconds}.{rest:09d}\n"
            "UE RNTI 1a2b CU-UE-ID 1 in-sync PH 51 dB PCMAX 20 dBm, average RSRP -80 (4 meas)\n"
            f"UE 1a2b: LCID 4: TX {7000 + index * bytes_per_reading} RX 10 bytes\n"
        )
    return text + last


def analysed(directory: Path, content: str):
    run = steady().write(
        directory / "run", mac={"file": "raw/oai/nrMAC_stats.log", "source": "oai"}
    )
    (run / "raw" / "oai").mkdir()
    (run / "raw" / "oai" / "nrMAC_stats.log").write_text(content)
    return analysis_of(run, bin_ns=20 * MS)


def test_the_log_becomes_the_mac_table(tmp_path: Path) -> None:
    received = 100 * 1500 + 52
    analysis = analysed(tmp_path, log(received // READINGS))
    aligned = analysis.tables["aligned"]
    assert aligned["mac_rsrp_dbm"].iloc[0] == pytest.approx(-80)
    assert analysis.summary["cross_checks"]["mac_to_receiver_ratio"] == pytest.approx(1, rel=1e-4)
    assert analysis.summary["verdict"] == "valid"
    assert aligned["mac_dl_sdu_throughput_bps"].iloc[0] == pytest.approx(
        received // READINGS * 8 / 0.025
    )


def test_a_cut_log_degrades_and_is_named(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, log(30_010, last="UE RNTI 1a"))
    assert analysis.summary["verdict"] == "degraded"
    assert "nrMAC_stats.log is cut off at byte" in " ".join(analysis.summary["verdict_reasons"])


def test_a_log_of_something_else_degrades_and_is_named(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, "hello\n")
    assert "no OAI MAC block" in " ".join(analysis.summary["verdict_reasons"])
    assert "mac" not in analysis.tables
