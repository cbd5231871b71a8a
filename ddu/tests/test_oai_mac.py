# SPDX-License-Identifier: Apache-2.0
"""OAI's MAC block: every version, every trap of its format, no value lost, none invented."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddu.align.mac_samples import mac_samples
from ddu.describe import describe
from ddu.errors import UnreadableInput
from ddu.readers.logs import LogTable, whole_lines
from ddu.readers.oai.mac import read_mac_log
from testsupport.oai_samples import SAMPLES, Sample
from testsupport.shared_data import shared

REAL = (
    "gnb-stdout-2023w16-rfsim.txt",
    "gnb-stdout-2024q1-two-ue.txt",
    "gnb-stdout-2025h2-rfsim.txt",
    "gnb-stdout-2026mid.txt",
    "nrMAC_stats-history-2026w11-do-ra.txt",
)


def read(directory: Path, text: str | bytes) -> LogTable:
    file = directory / "gnb.log"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_mac_log(file)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.version)
def test_every_field_of_every_version(tmp_path: Path, sample: Sample) -> None:
    log = read(tmp_path, sample.text)
    row = log.table.iloc[0]
    assert {name: row[name] for name in sample.values} == pytest.approx(sample.values)
    assert log.dialect == sample.dialect
    assert len(log.table) == 1


@pytest.mark.parametrize("sample", SAMPLES[::2], ids=lambda sample: sample.version)
@pytest.mark.parametrize(
    "prefix",
    [
        "[NR_MAC] I ",
        "[NR_MAC]   ",
        "\x1b[32m[NR_MAC] I ",
        "2026-11-21T17:39:57.123456789Z [NR_MAC] I ",
        "2026-11-21T17:39:57.123456789+0000 lab-2.net nr-softmodem[812]: [NR_MAC] I ",
        "Nov 21 17:39:57 lab-2.net nr-softmodem[812]: [NR_MAC] I ",
        "Nov  1 17:39:57.123456 lab oai@gnb[1]: 29742.896222 [NR_MAC] I ",
        "oai-gnb  | 2026-11-21T18:39:57.123456789+01:00 ",
        "29742.896222 [NR_MAC] I ",
        "1795282797.123456 ",
    ],
)
def test_prefixes_change_no_value(tmp_path: Path, sample: Sample, prefix: str) -> None:
    text = re.sub(r"^(?=UE |Frame|===)", prefix.replace("\\", ""), sample.text, flags=re.MULTILINE)
    row = read(tmp_path, text).table.iloc[0]
    assert {name: row[name] for name in sample.values} == pytest.approx(sample.values)
    if "2026-11-21" in prefix:
        assert row["utc_ns"] == 1_795_282_797_123_456_789
    if "29742" in prefix:
        assert row["uptime_ns"] == 29_742_896_222_000
    if prefix.startswith("17952"):
        assert row["utc_ns"] == 1_795_282_797_123_456_000


@pytest.mark.parametrize("name", REAL)
def test_real_logs_lose_no_number(name: str) -> None:
    """Every number that stands in a UE's lines is in its row, or in `extra`."""
    file = shared(f"oai/{name}")
    log = read_mac_log(file)
    lines = [line for line in file.read_text().splitlines() if line.lstrip().startswith("UE ")]
    printed = [_numbers(re.sub(r"LCID \d+", "", line.split(" ", 2)[2])) for line in lines]
    rows = iter(log.table.to_dict("records"))
    row: dict[str, object] = {}
    for line, numbers in zip(lines, printed, strict=True):
        if line.startswith("UE RNTI"):
            row = next(rows)
            numbers = numbers[1:] if re.search("RNTI [0-9]+[a-f]*", line) else numbers
        values = [float(v) for v in row.values() if isinstance(v, (int, float)) and v == v]
        extra = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?", str(row.get("extra", "")))]
        for value in numbers:
            scaled = (value, value * 1e6)
            assert any(math.isclose(v, w, rel_tol=1e-9) for v in scaled for w in values + extra), (
                line,
                value,
            )
    assert next(rows, None) is None


def _numbers(text: str) -> list[float]:
    text = re.sub(r"\b[0-9a-f]{4}\b(?=:| CU| \()", "", text)
    text = re.sub(r"ulsch|dlsch|pucch0|Qm", "", text)
    return [float(word) for word in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text)]


def test_no_measurement_is_null_and_not_0_dbm(tmp_path: Path) -> None:
    text = "UE RNTI 1a2b CU-UE-ID 1 out-of-sync PH 51 dB PCMAX 20 dBm, average RSRP 0 (0 meas)\n"
    row = read(tmp_path, text).table.iloc[0]
    assert pd.isna(row["mac_rsrp_dbm"])
    assert row["mac_rsrp_meas_count"] == 0
    assert row["mac_in_sync"] == 0


def test_a_ue_out_of_sync_has_null_gauges_and_keeps_its_counters(tmp_path: Path) -> None:
    def report(at: int, sync: str, total: int) -> str:
        return (
            f"### {1_795_282_797 + at}.000000000\n"
            f"UE RNTI 1a2b CU-UE-ID 1 {sync} PH 51 dB PCMAX 20 dBm, average RSRP -80 (4 meas)\n"
            f"UE 1a2b: dlsch_rounds {total}/0/0/0, dlsch_errors 0, pucch0_DTX 0, BLER 0.1 "
            "MCS (0) 9\n"
        )

    text = report(0, "in-sync", 10) + report(1, "in-sync", 15) + report(2, "out-of-sync", 18)
    samples = mac_samples(read(tmp_path, text))
    assert samples["mac_rsrp_dbm"].tolist()[0] == -80
    assert samples[["mac_rsrp_dbm", "mac_dl_mcs", "mac_dl_bler_ratio", "mac_phr_db"]].iloc[1].isna(
    ).all()  # fmt: skip
    assert samples["mac_dl_rounds_1_count"].tolist() == [5, 8]
    assert samples["duration_ns"].tolist() == [10**9, 10**9]


def test_unknown_fields_and_lines_are_kept(tmp_path: Path) -> None:
    text = (
        "UE RNTI 1a2b CU-UE-ID 1 in-sync PH 51 dB PCMAX 20 dBm, wobble 17 furlongs\n"
        "UE 1a2b: beam 3, tilt -4.5 deg\n"
    )
    row = read(tmp_path, text).table.iloc[0]
    assert row["extra"] == "wobble 17 furlongs; beam 3, tilt -4.5 deg"
    assert row["mac_phr_db"] == 51


def test_a_stale_tail_is_not_read(tmp_path: Path) -> None:
    """A file that is rewritten without truncating ends in what stood there before."""
    old = "UE RNTI 1a2b (1) PH 5 dB PCMAX 2 dBm, average RSRP -44 (16 meas)\n" + "".join(
        f"UE 1a2b: LCID {index}: 1000000{index} bytes TX\n" for index in (1, 2, 4, 5)
    )
    new = old.replace("1000000", "9").replace("LCID 5", "LCID 6")
    for tail in range(1, len(old), 7):
        text = "### 1795282797.5\n" + new + old[-tail:]
        row = read(tmp_path, text).table
        assert len(row) == 1
        assert row["mac_dl_lcid_4_bytes"].iloc[0] == 94
        assert "extra" not in row or row["extra"].isna().all()


def test_empty_readings_are_told(tmp_path: Path) -> None:
    text = "### 1795282797.5\n\n### 1795282798.5\nUE RNTI 1a2b (1) PH 5 dB PCMAX 2 dBm\n"
    log = read(tmp_path, text)
    assert log.notes == ("1 of 2 readings found the file empty",)
    assert log.table["utc_ns"].tolist() == [1_795_282_798_500_000_000]


def test_a_ue_that_attaches_anew_keeps_its_number(tmp_path: Path) -> None:
    head = "UE RNTI {} (1) PH 5 dB PCMAX 2 dBm\nUE {}: LCID 4: {} bytes TX\n"
    text = "".join(
        f"### {1_795_282_797 + at}\n" + head.format(rnti, rnti, count)
        for at, (rnti, count) in enumerate(
            [("aaaa", 100), ("aaaa", 150), ("bbbb", 500), ("aaaa", 20), ("bbbb", 510)]
        )
    )
    log = read(tmp_path, text)
    assert log.table["ue"].tolist() == [0] * 5
    assert mac_samples(log)["mac_dl_sdu_bytes"].tolist() == [50, 550, 570, 580]


def test_two_ues_have_two_numbers() -> None:
    log = read_mac_log(shared("oai/gnb-stdout-2024q1-two-ue.txt"))
    assert log.table["ue"].tolist() == [0, 1]


def test_radio_time_does_not_wrap(tmp_path: Path) -> None:
    block = "UE RNTI 1a2b (1) PH 5 dB PCMAX 2 dBm\n"
    text = "".join(f"Frame.Slot {frame}.0\n{block}" for frame in (768, 896, 0, 128))
    log = read(tmp_path, text)
    assert np.diff(log.table["radio_ns"].to_numpy(dtype=np.int64)).tolist() == [1_280_000_000] * 3


def test_a_slow_radio_misses_no_frames(tmp_path: Path) -> None:
    """At 0.06 of real time a report comes every 21 s, longer than the frame number lasts."""
    block = "UE RNTI 1a2b (1) PH 5 dB PCMAX 2 dBm\n"
    text = "".join(
        f"2026-11-23T00:{at:02}:00.000000000Z Frame.Slot {128 * at}.0\n{block}" for at in range(4)
    )
    log = read(tmp_path, text)
    assert np.diff(log.table["radio_ns"].to_numpy(dtype=np.int64)).tolist() == [1_280_000_000] * 3


def test_what_is_no_gnb_log_is_refused_by_name(tmp_path: Path) -> None:
    for content in (b"", b"hello\n", bytes(range(256))):
        with pytest.raises(UnreadableInput, match=r"gnb\.log"):
            read(tmp_path, content)


def _cells(log: LogTable) -> list[dict[str, object]]:
    return [
        {name: value for name, value in row.items() if not pd.isna(value)}
        for row in log.table.drop(columns="extra", errors="ignore").to_dict("records")
    ]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.version)
def test_a_cut_at_any_byte_invents_nothing(tmp_path: Path, sample: Sample) -> None:
    """A reader gives the same rows for the beginning of a file alone and in the whole file.

    Every cut inside a line reads as the cut before that line, so one cut a line is tried in full.
    """
    content = (sample.text * 2).encode()
    whole = _cells(read(tmp_path, content))
    begins = [0, *(at + 1 for at, byte in enumerate(content) if byte == ord("\n"))]
    for begin, end in itertools.pairwise(begins):
        for cut in range(begin, end):
            text, cut_at = whole_lines(content[:cut])
            assert text.encode() == content[:begin]
            assert cut_at == (begin if cut > begin else None)
        try:
            rows = _cells(read(tmp_path, content[: end - 1]))
        except UnreadableInput:
            continue
        assert len(rows) <= len(whole)
        for row, full in zip(rows, whole, strict=False):
            assert row.items() <= full.items()


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(at=st.floats(0, 1))
def test_a_real_log_cut_anywhere_invents_nothing(tmp_path: Path, at: float) -> None:
    content = shared("oai/nrMAC_stats-history-2026w11-do-ra.txt").read_bytes()[:20_000]
    whole = _cells(read(tmp_path, content))
    try:
        cut = _cells(read(tmp_path, content[: int(at * len(content))]))
    except UnreadableInput:
        return
    for row, full in zip(cut, whole, strict=False):
        assert row.items() <= full.items()


def test_a_single_report_pasted_from_an_issue_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text(
        "[NR_MAC]   Frame.Slot 128.0\n"
        "UE 928c: dlsch_rounds 681/10/1/0, dlsch_errors 0, pucch0_DTX 3, BLER 0.01000 MCS 9\n"
        "UE 928c: ulsch_rounds 700/1/0/0, ulsch_errors 0\n"
        "[NR_MAC]   UE 1a2b: 158.7 Generating RA-Msg2 DCI\n"
    )
    description = describe(file)
    assert (description["kind"], description["rows"]) == ("oai-gnb-stdout", 1)
    (row,) = read_mac_log(file).table.to_dict("records")
    assert row["mac_rnti"] == 0x928C
    assert row["radio_ns"] == 1_280_000_000
    assert (row["mac_dl_rounds_1_count"], row["mac_ul_rounds_2_count"]) == (681, 1)
    assert row["mac_dl_mcs"] == 9


def test_lines_of_one_ue_that_grep_left_are_reports(tmp_path: Path) -> None:
    line = "UE 928c: dlsch_rounds {}/1/0/0, dlsch_errors 0, pucch0_DTX 3, BLER 0.01000 MCS 9\n"
    table = read(tmp_path, "".join(line.format(100 * number) for number in range(1, 6))).table
    assert table["mac_dl_rounds_1_count"].tolist() == [100, 200, 300, 400, 500]
