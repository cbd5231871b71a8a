# SPDX-License-Identifier: Apache-2.0
"""MAC samples of FlexRIC and of KPM monitors."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ddu.align.mac_samples import mac_samples
from ddu.errors import UnreadableInput
from ddu.readers.ran_csv import read_ran_csv

FLEXRIC = """\
tstamp,frame,slot,dl_aggr_tbs,dl_aggr_bytes_sdus,pusch_snr,pucch_snr,rnti,wb_cqi,dl_mcs1,dl_bler,phr,bsr
1795282920500000,17,3,1000,900,21.5,-64,18744,15,27,0.05,40,77
1795282920510000,18,3,2000,1800,-1.5,20,18745,14,26,0.06,41,78
1795282920520000,19,3,3000,2700,,20,18744,14,26,0.06,41,78
"""
KPM = """\
timestamp,ue_id,DRB.UEThpDl,DRB.UEThpUl,RRU.PrbTotDl,RSRP
2026-11-21T17:42:00Z,1,1234.5,6.5,42,-81
"""


def write(directory: Path, text: str) -> Path:
    file = directory / "mac.csv"
    file.write_text(text)
    return file


def test_flexric(tmp_path: Path) -> None:
    table = read_ran_csv(write(tmp_path, FLEXRIC)).table
    assert table["utc_ns"].tolist()[0] == 1_795_282_920_500_000_000
    assert table["ue"].tolist() == [0, 1, 0]
    assert table["mac_rnti"].tolist() == [18744, 18745, 18744]
    assert table["mac_dl_bytes"].tolist() == [1000, 2000, 3000]
    assert table["mac_dl_sdu_bytes"].tolist() == [900, 1800, 2700]
    assert table["mac_ul_snr_db"].tolist()[:2] == [21.5, -1.5]
    assert table["mac_ul_snr_db"].isna().tolist() == [False, False, True]
    assert pd.isna(table["mac_pucch0_snr_db"].iloc[0])
    assert table["frame"].tolist() == [17, 18, 19]


def test_kpm_is_in_kbit_s(tmp_path: Path) -> None:
    row = read_ran_csv(write(tmp_path, KPM)).table.iloc[0]
    assert row["mac_dl_goodput_bps"] == 1_234_500
    assert row["mac_rsrp_dbm"] == -81
    assert row["RRU.PrbTotDl"] == 42


def test_a_cut_last_line_is_not_read(tmp_path: Path) -> None:
    log = read_ran_csv(write(tmp_path, FLEXRIC[:-4]))
    assert len(log.table) == 2
    assert log.truncated_at is not None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", "no column of time"),
        ("tstamp,rnti\n1,2,3\n", ":2: 3 fields"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnreadableInput, match=problem):
        read_ran_csv(write(tmp_path, text))


def test_small_numbers_hexadecimal_identities_and_names(tmp_path: Path) -> None:
    text = "\ufefftstamp,rnti,dl_bler,mac_dl_mcs,mac_slice\n"
    rows = "1795282920000000,0x4601,9.5e-05,N/A,eMBB\n1795282920100000,0x4601,-2E-3,27,eMBB\n"
    log = read_ran_csv(write(tmp_path, text + rows))
    assert log.table["mac_rnti"].tolist() == [0x4601] * 2
    assert log.table["mac_dl_bler_ratio"].tolist() == [9.5e-05, -0.002]
    assert log.table["mac_slice"].tolist() == ["eMBB"] * 2
    assert "mac_slice" not in mac_samples(log)
