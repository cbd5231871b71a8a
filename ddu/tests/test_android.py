# SPDX-License-Identifier: Apache-2.0
"""The output of phones becomes columns; values that they do not report stay null."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddu.align.mac_samples import mac_samples
from ddu.analyze import analysis_of
from ddu.api import analyze
from ddu.errors import UnreadableInput
from ddu.readers.android.log import read_phone_log
from ddu.readers.android.signal import signal_of
from testsupport.shared_data import shared
from testsupport.synthetic_run import T0, steady

SEEDS = Path(__file__).parent / "seeds" / "android"
STAMPED = ("sa-two-sims", "nsa-fallback", "redacted", "out-of-service")


def read(name: str) -> pd.DataFrame:
    return read_phone_log(SEEDS / f"{name}.txt").table


def test_the_sim_with_the_data_counts_and_its_cells_change() -> None:
    table = read("sa-two-sims")
    assert len(table) == 8
    assert set(table["mac_technology"]) == {3}
    assert list(table["mac_rsrp_dbm"]) == [-72.0 - i for i in range(8)]
    assert set(table["mac_sinr_db"]) == {18}
    assert set(table["mac_cqi"]) == {11}
    assert list(table["mac_pci"]) == [879.0] * 4 + [311.0] * 4
    assert set(table["mac_band"]) == {78}
    assert set(table["mac_arfcn"]) == {636666}
    assert set(table["mac_dl_bandwidth_khz"]) == {100_000}
    assert table["utc_ns"].iloc[1] == 1_795_257_315_500_000_000


def test_what_is_asked_seldom_stays_in_force() -> None:
    table = read("sa-two-sims")
    assert set(table["phone_battery_ratio"].round(6)) == {0.84}
    assert set(table["phone_battery_temperature_c"].round(6)) == {31.2}
    assert set(table["phone_cpu_temperature_c"]) == {51.7}
    assert set(table["phone_skin_temperature_c"]) == {38.4}  # not the cached one
    assert set(table["phone_screen_on"]) == {1}


def test_a_fallback_to_lte() -> None:
    table = read("nsa-fallback")
    assert list(table["mac_technology"]) == [2, 2, 2, 1, 1]
    assert list(table["mac_rsrp_dbm"]) == [-64, -64, -64, -84, -84]
    assert list(table["mac_sinr_db"]) == [30, 30, 30, 23, 23]
    assert set(table["mac_lte_sinr_db"]) == {23}  # 230 tenths in the second
    assert table["mac_pci"].iloc[-1] == 101
    assert "rat=14" in table["extra"].iloc[0]


def test_what_is_redacted_is_unknown() -> None:
    table = read("redacted")
    assert table["mac_technology"].isna().all()
    assert "mac_pci" not in table
    assert set(table["mac_rsrp_dbm"]) == {-95}


def test_no_service_has_no_signal() -> None:
    table = read("out-of-service")
    assert set(table["mac_technology"]) == {0}
    assert set(table["mac_in_sync"]) == {0}
    assert "mac_rsrp_dbm" not in table


def test_a_single_dump_of_an_old_phone() -> None:
    table = read("dump-android-9")
    assert len(table) == 1
    assert table["utc_ns"].isna().all()
    assert table["mac_rsrp_dbm"].iloc[0] == -91
    assert table["mac_sinr_db"].iloc[0] == 15.4
    assert table["mac_pci"].iloc[0] == 211
    assert table["mac_technology"].iloc[0] == 1


def test_bytes_of_the_interface_become_samples() -> None:
    samples = mac_samples(read_phone_log(SEEDS / "sa-two-sims.txt"))
    assert list(samples["duration_ns"]) == [500_000_000] * 7
    assert samples["mac_dl_sdu_bytes"].iloc[-1] == 7 * 5_000_000
    assert samples["mac_ul_sdu_bytes"].iloc[-1] == 7 * 10_000
    assert samples["phone_battery_ratio"].notna().all()


def test_lines_of_public_logs() -> None:
    lines = shared("android/telephony-registry-signal.txt").read_text().splitlines()
    both, lte_only = signal_of(lines[0]), signal_of(lines[1])
    assert both is not None
    assert lte_only is not None
    assert both[0] | {} == {
        "mac_nr_rsrp_dbm": -64, "mac_nr_rsrq_db": -11, "mac_nr_sinr_db": 30,
        "mac_lte_rsrp_dbm": -84, "mac_lte_rsrq_db": -7, "mac_lte_sinr_db": 23,
        "mac_lte_rssi_dbm": -51,
    }  # fmt: skip
    assert lte_only[0]["mac_lte_rsrp_dbm"] == -77
    assert "mac_nr_rsrp_dbm" not in lte_only[0]
    assert "SignalBarInfo" in lte_only[1]


def test_a_run_with_one_capture_and_a_phone(tmp_path: Path) -> None:
    run = steady(packets=1000).write(
        tmp_path / "run",
        mac={"file": "raw/phone/radio.txt", "source": "phone"},
        time={"offset_ns": -300_000_000, "offset_uncertainty_ns": 2_000_000},
        captures=[{"host": "server", "role": "sender", "file": "raw/sender.pcap"}],
    )
    (run / "raw" / "receiver.pcap").unlink()
    manifest = json.loads((run / "run.json").read_text())
    manifest["experiment"] |= {"prb": None, "scenario": None, "phone": {"place": "bridge"}}
    (run / "run.json").write_text(json.dumps(manifest))
    (run / "raw" / "phone").mkdir()
    log = (SEEDS / "sa-two-sims.txt").read_bytes()
    (run / "raw" / "phone" / "radio.txt").write_bytes(log)
    analyze(run)
    page = (run / "report.html").read_text()
    assert "downlink · bridge · " in page
    assert "None" not in page.split('class="what"', 1)[1].split("</p>", 1)[0]
    analysis = analysis_of(run)
    # The phone's clock is 300 ms behind: its reading of T0 was 300 ms after T0.
    assert analysis.tables["mac"]["t_s"].iloc[0] == pytest.approx(0.3)
    aligned = analysis.tables["aligned"].set_index("t_s")
    assert aligned["mac_rsrp_dbm"].iloc[0:14].isna().all()
    assert set(aligned["mac_technology"].dropna()) == {3}
    assert analysis.summary["technology_ratio"] == {"sa": 1.0}
    (event,) = analysis.tables["events"].to_dict("records")
    assert (event["event"], event["before"], event["after"]) == ("handover", "879", "311")
    assert event["utc_ns"] == T0 + 2_300_000_000
    assert analysis.summary["alignment"]["mac"]["uncertainty_ns"] == 102_000_000
    assert analysis.summary["throughput_bps"] > 0


@pytest.mark.parametrize("jump_s", [60, -60])
def test_a_clock_that_is_set_during_the_run(tmp_path: Path, jump_s: int) -> None:
    run = steady(packets=4000).write(
        tmp_path / "run",
        mac={"file": "raw/phone/radio.txt", "source": "phone"},
        time={"offset_ns": 0, "offset_uncertainty_ns": 1, "offset_after_ns": jump_s * 10**9},
    )
    (run / "raw" / "phone").mkdir()
    lines = (SEEDS / "sa-two-sims.txt").read_text().splitlines(keepends=True)
    first = T0 // 10**9
    late = [f"### {first + at}." for at in (2, 3, 4)]
    set_late = [
        line.replace(line[4:14], str(int(line[4:14]) + jump_s)) if line[:15] in late else line
        for line in lines
    ]
    (run / "raw" / "phone" / "radio.txt").write_text("".join(set_late))
    mac = analysis_of(run).tables["mac"]
    assert list(mac["t_s"].round(6)) == [0, 0.5, 1, 1.5, 2, 2.5, 3]


@pytest.mark.parametrize("text", ["hello\n", "\n\n", "### 1795257315.0\n"])
def test_no_phone_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "radio.txt").write_text(text)
    with pytest.raises(UnreadableInput, match=r"no reading of an Android phone"):
        read_phone_log(tmp_path / "radio.txt")


def test_what_the_log_itself_costs(tmp_path: Path) -> None:
    times = "## cpu\n0m0.10s 0m0.20s\n1m1.00s 0m2.00s\n"
    log = (SEEDS / "redacted.txt").read_text().replace("## registry", times + "## registry")
    (tmp_path / "radio.txt").write_text(log)
    table = read_phone_log(tmp_path / "radio.txt").table
    assert set(table["phone_log_cpu_s"].round(6)) == {63.3}


def test_an_unknown_section_is_kept_as_text(tmp_path: Path) -> None:
    log = (SEEDS / "redacted.txt").read_text().replace("## registry", "## modem\nx=1\n## registry")
    (tmp_path / "radio.txt").write_text(log)
    extra = read_phone_log(tmp_path / "radio.txt").table["extra"]
    assert extra.str.startswith("modem: x=1").all()


@lru_cache
def whole(name: str) -> list[dict[str, object]]:
    return records(read(name))


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Rows without what is null in them: columns that nothing fills are no difference."""
    return [
        {str(name): value for name, value in row.items() if not pd.isna(value)}
        for row in table.to_dict("records")
    ]


@pytest.mark.parametrize("name", STAMPED)
def test_a_cut_at_any_byte_gives_the_rows_before_it(tmp_path: Path, name: str) -> None:
    content = (SEEDS / f"{name}.txt").read_bytes()
    file = tmp_path / "radio.txt"

    @settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(st.integers(1, len(content) - 1))
    def attempt(at: int) -> None:
        file.write_bytes(content[:at])
        try:
            rows = records(read_phone_log(file).table)
        except UnreadableInput:
            return
        assert rows == whole(name)[: len(rows)]

    attempt()
