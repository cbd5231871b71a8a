# SPDX-License-Identifier: Apache-2.0
"""MAC samples on the run's clock, and the verdict that they bear out."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddu.analyze import Analysis, analysis_of
from testsupport.synthetic_run import MS, T0, steady

HEADER = (
    "utc_ns,duration_ns,ue,mac_rsrp_dbm,mac_dl_mcs,mac_dl_sdu_bytes,mac_dl_capacity_sdu_bytes,"
    "mac_dl_capacity_bytes,mac_dl_rlc_queue_bytes"
)
RECEIVED_IP_BYTES = 100 * 1500 + 52
"""The bytes of the steady run: its data packets and its SYN."""


def with_mac(directory: Path, delivered_bytes: int) -> Analysis:
    """13 intervals of 10 ms from 10 ms before the first packet; RSRP is missing in the fourth."""
    run = steady().write(directory / "run", mac={"file": "raw/mac.csv", "source": "nr-link"})
    rows = [HEADER]
    for index in range(13):
        total = delivered_bytes * (index + 1) // 13
        rsrp = "" if index == 3 else "-50"
        rows.append(
            f"{T0 + (index - 1) * 10 * MS},{10 * MS},0,{rsrp},20,{total},{2 * total},{2 * total},7"
        )
    (run / "raw" / "mac.csv").write_text("\n".join(rows) + "\n")
    return analysis_of(run, bin_ns=10 * MS)


def test_mac_and_transport_stand_on_one_clock(tmp_path: Path) -> None:
    aligned = with_mac(tmp_path, RECEIVED_IP_BYTES).tables["aligned"]
    assert aligned["mac_rsrp_dbm"].isna().tolist()[:4] == [False, False, True, False]
    assert aligned["mac_dl_rlc_queue_bytes"].iloc[0] == pytest.approx(7)
    rate = RECEIVED_IP_BYTES / 13 * 8 / 0.010
    assert aligned["mac_dl_sdu_throughput_bps"].iloc[1] == pytest.approx(rate, rel=1e-3)


def test_utilisation_is_delivered_of_deliverable(tmp_path: Path) -> None:
    summary = with_mac(tmp_path, RECEIVED_IP_BYTES).summary
    assert summary["utilisation_ratio"] == pytest.approx(0.5)
    assert summary["cross_checks"]["mac_to_receiver_ratio"] == pytest.approx(1.0)
    assert summary["verdict"] == "valid"


@pytest.mark.parametrize(("share", "verdict"), [(0.9, "degraded"), (0.1, "invalid")])
def test_traffic_beside_the_link_is_no_result(tmp_path: Path, share: float, verdict: str) -> None:
    assert with_mac(tmp_path, int(RECEIVED_IP_BYTES * share)).summary["verdict"] == verdict
