# SPDX-License-Identifier: Apache-2.0
"""nrUE's stdout, and the gNB's statistics of L1 and RRC."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ddu.align.counters import increments
from ddu.errors import UnreadableInput
from ddu.readers.oai.statistics import read_l1_log, read_rrc_log
from ddu.readers.oai.ue import read_ue_log
from testsupport.shared_data import shared

UE = """\
[PHY]   Initial sync successful, PCI: 7
[NR_MAC]   UE 0 RNTI 15cc stats sfn: 896.8, cumulated bad DCI 3
    DL harq: 10/2
    UL harq: 38/1 avg code rate 0.1, avg bit/symbol 3.0, avg per TB: (nb RBs 5.1, nb symbols 3.0)
[PHY]   RSRP = -71 dBm
[PHY]   SINR = -3 dB, CQI = 4
[NAS]    Received PDU Session Establishment Accept, UE IPv4: 10.45.1.2
[NR_MAC]   UE 0 RNTI 15cc stats sfn: 0.8, cumulated bad DCI 3
    DL harq: 12/2
Harq round stats for Downlink: 5/4/3
"""

L1 = """\
### 1795282797.5
Blacklisted PRBs 1/4
 0. 1.-2. X.
max_IO = 55 (85), min_I0 = 0 (136), avg_I0 = 44 dB(43.-4.)
PRACH I0 = 30.6 dB
ULSCH RNTI 4cba, 123: ulsch_power[0] 41,3 ulsch_noise_power[0] -1.-5, sync_pos 2
                  ulsch_power[1] 40.1, ulsch_noise_power[1] 20.5
                 round_trials 100(1.0e-01):10(2.0e-02):2(0.0e+00):0, DTX 3, \
current_Qm 4, current_RI 1, total_bytes RX/SCHED 9000/9100
DLSCH RNTI 4cba: current_Qm 6, current_RI 2, total_bytes TX 777
"""

RRC = """\
### 1795282797.5
UE 0 CU UE ID 1 DU UE ID 40352 RNTI 9da0 random identity c0f1ac9824000000 S-TMSI 7c7d0001:
    last RRC activity: 5 seconds ago
    PDU session 0 ID 10 status established
    associated DU:  DU assoc ID 8
    servingCellId 0 MeasResultNR for phyCellId 0:
      resultSSB: RSRP -72 dBm RSRQ -10.5 dB SINR 21.0 dB

1 connected DUs
[1] DU ID 3584 (gNB-OAI) integrated DU-CU: 1 cell
  [1] nrCellID 12345678, PCI 9, Mode TDD, SSB ARFCN 641280
      TDD: band 78 ARFCN 640008 SCS 30 (kHz) PRB 106
"""


def write(directory: Path, text: str) -> Path:
    file = directory / "some.log"
    file.write_text(text)
    return file


def test_ue_statistics_measurements_and_events(tmp_path: Path) -> None:
    table = read_ue_log(write(tmp_path, UE)).table
    assert table["event"].tolist() == [
        "synchronised", "statistics", "measurement", "measurement", "session established",
        "statistics", "statistics",
    ]  # fmt: skip
    first = table.iloc[1]
    assert first["mac_rnti"] == 0x15CC
    assert (first["mac_dl_rounds_1_count"], first["mac_dl_rounds_2_count"]) == (10, 2)
    assert (first["mac_ul_rounds_1_count"], first["mac_ul_mean_prb"]) == (38, 5.1)
    assert table["mac_bad_dci_count"].dropna().tolist() == [3, 3]
    assert table["mac_rsrp_dbm"].dropna().tolist() == [-71]
    assert table["mac_sinr_db"].dropna().tolist() == [-3]
    assert table["address"].dropna().tolist() == ["10.45.1.2"]
    assert table["mac_dl_rounds_3_count"].dropna().tolist() == [3]
    # 896 to 0 is 128 frames: the number wraps at 1024.
    assert table["radio_ns"].dropna().diff().iloc[1] == 1_280_000_000


def test_the_real_ue_log() -> None:
    row = read_ue_log(shared("oai/nrue-stdout-2025.txt")).table.iloc[0]
    assert row["mac_rnti"] == 0x15CC
    assert row["mac_ul_rounds_1_count"] == 38
    assert row["mac_ul_mean_symbols"] == 3.0
    assert row["radio_ns"] == 3_844_000_000
    assert "extra" not in row


def test_l1(tmp_path: Path) -> None:
    table = read_l1_log(write(tmp_path, L1)).table
    cell, ue = table.iloc[0], table.iloc[1]
    assert pd.isna(cell["mac_rnti"])
    assert json.loads(cell["l1_i0_per_prb_db"]) == [0, 1, -2, None]
    assert cell[["l1_blacklisted_prb", "l1_ul_prb", "l1_max_i0_db", "l1_max_i0_at_prb"]].tolist() \
        == [1, 4, 55, 85]  # fmt: skip
    assert cell[["l1_mean_i0_db", "l1_i0_antenna_1_db", "l1_prach_i0_db"]].tolist() == [
        44,
        -4,
        30.6,
    ]
    assert ue["mac_rnti"] == 0x4CBA
    assert ue["l1_ul_power_antenna_0_db"] == 41.3
    assert ue["l1_ul_noise_antenna_0_db"] == -1.5
    assert ue["l1_ul_noise_antenna_1_db"] == 20.5
    assert ue[[f"l1_ul_rounds_{n}_count" for n in (1, 2, 3, 4)]].tolist() == [100, 10, 2, 0]
    assert ue[["l1_ul_dtx_count", "l1_ul_qm", "l1_dl_qm", "l1_dl_layers"]].tolist() == [3, 4, 6, 2]
    assert ue[["l1_ul_bytes", "l1_ul_bytes_scheduled", "l1_dl_bytes"]].tolist() == [9000, 9100, 777]


def test_rrc(tmp_path: Path) -> None:
    table = read_rrc_log(write(tmp_path, RRC)).table
    ue, cell = table.iloc[0], table.iloc[1]
    assert (ue["kind"], cell["kind"]) == ("ue", "cell")
    assert ue["mac_rnti"] == 0x9DA0
    assert ue["rrc_last_activity_s"] == 5
    assert ue[["rrc_rsrp_dbm", "rrc_rsrq_db", "rrc_sinr_db"]].tolist() == [-72, -10.5, 21]
    assert "status established" in ue["extra"]
    assert cell[["rrc_pci", "rrc_band", "rrc_arfcn", "rrc_ssb_arfcn", "rrc_prb"]].tolist() == [
        9, 78, 640008, 641280, 106,
    ]  # fmt: skip


@pytest.mark.parametrize("read", [read_ue_log, read_l1_log, read_rrc_log])
def test_another_log_is_refused_by_name(tmp_path: Path, read) -> None:
    with pytest.raises(UnreadableInput, match=r"some\.log"):
        read(write(tmp_path, "hello\n"))


def test_a_counter_of_32_bits_goes_on_below_zero() -> None:
    counted = np.array([2_147_483_000.0, -2_147_483_296.0, -2_147_482_296.0])
    assert increments(counted).tolist() == [2_147_483_000, 1000, 1000]
