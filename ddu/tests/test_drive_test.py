# SPDX-License-Identifier: Apache-2.0
"""Logs that people have of their phones, beside a capture of the server."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pytest

from ddu.analyze import analysis_of
from ddu.errors import UnreadableInput
from ddu.importing.run import import_folder
from ddu.readers.android.drive_test import read_drive_test
from ddu.readers.android.log import read_phone_log
from testsupport.shared_data import shared
from testsupport.synthetic_run import T0, steady

HEADER = "Timestamp,NetworkMode,RSRP,RSRQ,SNR,CQI,Speed,Operatorname\n"


def written(directory: Path, text: str) -> Path:
    file = directory / "walk.csv"
    file.write_text(text)
    return file


def test_columns_and_what_is_none(tmp_path: Path) -> None:
    rows = "1795257315.5,5G,-101,-14,1.0,-,3,Op\n1795257316.5,LTE,2147483647,-99,3.0,11,0,Op\n"
    table = read_drive_test(written(tmp_path, HEADER + rows)).table
    assert list(table["utc_ns"]) == [1_795_257_315_500_000_000, 1_795_257_316_500_000_000]
    assert list(table["mac_technology"]) == [2, 1]
    assert list(table["mac_rsrp_dbm"].isna()) == [False, True]
    assert list(table["mac_rsrq_db"].isna()) == [False, True]  # -99 dB cannot be
    assert list(table["mac_cqi"].isna()) == [True, False]
    assert set(table["extra"]) == {"Operatorname=Op"}


def test_the_apis_own_names(tmp_path: Path) -> None:
    text = "time,nr_ssRsrp,nr_ssSinr,lte_rsrp\n1795257315,-80,12,-95\n1795257316,,,-96\n"
    table = read_drive_test(written(tmp_path, text)).table
    assert list(table["mac_rsrp_dbm"]) == [-80, -96]
    assert table["mac_sinr_db"].iloc[0] == 12


@pytest.mark.parametrize("names", ["Time,Date", "Date,Time"])
def test_date_and_time_in_two_columns(tmp_path: Path, names: str) -> None:
    values = {"Date": "2026-11-21", "Time": "10:35:15.500"}
    cells = ",".join(values[name] for name in names.split(","))
    table = read_drive_test(written(tmp_path, f"{names},RSRP\n{cells},-80\n")).table
    local = datetime(2026, 11, 21, 10, 35, 15, 500_000, tzinfo=timezone.utc)
    assert list(table["local_ns"]) == [int(local.timestamp() * 1e9)]
    assert table["of_day_ns"].isna().all()


def test_rates_of_more_than_1_gbps(tmp_path: Path) -> None:
    text = "Timestamp,RSRP,DL_bitrate\n1795257315,-80,900000\n1795257316,-80,1500000\n"
    table = read_drive_test(written(tmp_path, text)).table
    assert list(table["mac_dl_goodput_bps"]) == [0.9e9, 1.5e9]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", ":1: no column of time"),
        ("time,rsrp\n1795257315,-80,7\n", ":2: 3 fields, the header has 2"),
    ],
)
def test_what_is_none_of_them(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UnreadableInput, match=words):
        read_drive_test(written(tmp_path, text))


def test_a_published_walk() -> None:
    table = read_drive_test(shared("traces/ucc5g/B_2020.02.27_20.35.57.csv")).table
    # By pandas, an independent reading of the same file.
    theirs = pd.read_csv(shared("traces/ucc5g/B_2020.02.27_20.35.57.csv"), na_values="-")
    assert list(table["mac_rsrp_dbm"]) == list(theirs["RSRP"])
    assert list(table["mac_dl_goodput_bps"]) == list(theirs["DL_bitrate"] * 1e3)
    first = datetime(2020, 2, 27, 20, 35, 57, tzinfo=timezone.utc)
    assert table["local_ns"].iloc[0] == int(first.timestamp()) * 10**9


def test_a_walk_in_local_time_joins_a_servers_capture(tmp_path: Path) -> None:
    folder = tmp_path / "bridge_DL"
    folder.mkdir()
    run = steady(packets=4000).write(tmp_path / "made")
    (run / "raw" / "sender.pcap").rename(folder / "server_cubic.pcap")
    there = timezone(timedelta(hours=-5))
    rows = ""
    for second in range(-3, 8):
        at = datetime.fromtimestamp(T0 // 10**9 + second, there)
        rows += f"{at:%Y.%m.%d_%H.%M.%S},5G,{-90 - second},-11,9,12,3,Op\n"
    (folder / "walk.csv").write_text(HEADER + rows)
    (imported,) = import_folder(folder, tmp_path / "runs")
    manifest = json.loads((imported.path / "run.json").read_text())
    assert manifest["mac"]["source"] == "drive-test"
    assert manifest["time"]["offset_ns"] is None
    analysis = analysis_of(imported.path)
    assert "UTC-05:00" in analysis.summary["alignment"]["mac"]["method"]
    aligned = analysis.tables["aligned"].set_index("t_s")
    # The report at second 1 covers the second before it.
    assert aligned["mac_rsrp_dbm"].iloc[5] == pytest.approx(-91)
    assert aligned["mac_rsrp_dbm"].iloc[65] == pytest.approx(-92)


def test_a_bugreport_holds_one_reading(tmp_path: Path) -> None:
    dump = (Path(__file__).parent / "seeds/android/dump-android-9.txt").read_text()
    file = tmp_path / "bugreport.txt"
    file.write_text(
        f"== dumpstate\nDUMP OF SERVICE power:\n  mSignalStrength=SignalStrength:{{}}\n"
        f"DUMP OF SERVICE telephony.registry:\n{dump}DUMP OF SERVICE wifi:\n rsrp=-1\n"
    )
    table = read_phone_log(file).table
    assert list(table["mac_rsrp_dbm"]) == [-91]
