# SPDX-License-Identifier: Apache-2.0
"""The import of measurements as scenarios that nr-link accepts, and refusals of invalid files."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from ccu.cli.main import app
from ccu.scenarios import LIBRARY
from ccu.scenarios.play import experiment, play
from ccu.scenarios.sources import FORMATS, ImportOptions
from ccu.scenarios.sources.efficiency import CQI_EFFICIENCY, MCS_EFFICIENCY
from ccu.scenarios.validate import validate
from ccu.scenarios.write import write
from ddu.console.problems import RefusedError

LUMOS_HEAD = "run_num,seq_num,nrStatus,nr_ssRsrp,nr_ssSinr,Throughput,mobility_mode\n"
UCC_HEAD = "Timestamp,Speed,NetworkMode,RSRP,SNR,CQI,DL_bitrate,UL_bitrate,State\n"
GNB = """\
[NR_MAC] I Frame.Slot {frame}.0
UE RNTI 4cba CU-UE-ID 1 in-sync PH 48 dB PCMAX 20 dBm, average RSRP {rsrp} (16 meas)
UE 4cba: CQI {cqi}, RI 1, PMI (0,0)
UE 4cba: dlsch_rounds 9/0/0/0, dlsch_errors 0, pucch0_DTX 0, BLER 0.1 MCS (0) 9 CCE fail 0
UE RNTI 77aa CU-UE-ID 2 in-sync PH 48 dB PCMAX 20 dBm, average RSRP -130 (16 meas)
"""


def shared(path: str) -> Path:
    """Return a file of `shared/data` beside the project; skip the test if there is none."""
    for folder in LIBRARY.parents:
        if (existing := folder / "shared" / "data" / path).is_file():
            return existing
    pytest.skip(f"shared/data/{path} is not beside the project: real data of others, not shipped")


def imported(form: str, file: Path, into: Path, **wanted: object) -> dict[str, object]:
    """Return the scenario that an import writes, which nr-link has accepted."""
    scenario = FORMATS[form].read(file, ImportOptions("x", **wanted))  # type: ignore[arg-type]
    paths = write(scenario, "x", "CC0-1.0", into)
    assert all(path.is_file() for path in paths)
    loaded: dict[str, object] = yaml.safe_load((into / "x.yaml").read_text())
    return loaded


def played(into: Path, seconds: float, interval_ms: int = 1000) -> dict[str, np.ndarray]:
    rows = play(experiment(str(into / "x.yaml"), {}), seconds, interval_ms)
    return {str(name): rows[name].to_numpy() for name in rows}


def source(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "measured.txt"
    file.write_text(text)
    return file


def test_a_mahimahi_trace_is_played_unchanged(tmp_path: Path) -> None:
    file = source(tmp_path, "".join(f"{ms}\n" for ms in range(0, 2000, 4)))
    up = tmp_path / "up.txt"
    up.write_text("1000\n2000\n")
    scenario = imported("mahimahi", file, tmp_path / "out", ul=up)
    assert scenario["duration_s"] == 1.996
    assert (tmp_path / "out" / "x.down").read_bytes() == file.read_bytes()
    rates = played(tmp_path / "out", 1)
    # 250 opportunities per second; 4 of 1504 bytes are not part of the packet.
    assert rates["dl_capacity_mbps"][0] == pytest.approx(250 * 1500 * 8e-6, rel=0.01)


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "of Excel"])
@pytest.mark.parametrize("between", ["\t", " ", ","])
def test_a_table_of_rates_is_played_from_its_first_second(
    tmp_path: Path, between: str, mark: str
) -> None:
    rates = [80, 0, 122.5, 60]
    text = f"{mark}# of a drive\n" + "".join(
        f"{n}{between}{rate}\n" for n, rate in enumerate(rates, 1)
    )
    scenario = imported("seconds-mbps", source(tmp_path, text), tmp_path / "out")
    assert scenario["duration_s"] == 4
    assert played(tmp_path / "out", 8)["dl_capacity_mbps"] == pytest.approx(rates * 2)


def test_one_run_of_lumos5g(tmp_path: Path) -> None:
    rows = [f"1,{n},CONNECTED,-80,10,5,walking\n" for n in range(1, 4)]
    rows += [f"2,{n},CONNECTED,{-80 - n},{20 - n},{100 * n},walking\n" for n in range(1, 4)]
    rows += ["2,4,NONE,,,9,walking\n"]
    file = source(tmp_path, LUMOS_HEAD + "".join(rows))
    imported("lumos5g", file, tmp_path / "rates", run=2)
    capacity = played(tmp_path / "rates", 4)["dl_capacity_mbps"]
    assert capacity == pytest.approx([100, 200, 300, 9])
    imported("lumos5g", file, tmp_path / "radio", run=2, kind="radio")
    csv = (tmp_path / "radio" / "x.csv").read_text()
    assert csv == "t_s,rsrp_dbm,sinr_db\n0,-81,19\n1,-82,18\n2,-83,17\n"


def test_a_drive_of_ucc_has_its_rsrp_and_snr(tmp_path: Path) -> None:
    rows = [
        "2020.02.14_09.38.22,2,5G,-90,10.0,9,8000,800,D\n",
        "2020.02.14_09.38.22,2,5G,-94,12.0,-,8000,800,D\n",
        "2020.02.14_09.38.24,2,5G,-80,-,11,4000,400,D\n",
        "2020.02.14_09.38.25,2,LTE,-70,20,11,0,0,I\n",
    ]
    file = source(tmp_path, UCC_HEAD + "".join(rows))
    imported("ucc5g", file, tmp_path / "radio")
    csv = (tmp_path / "radio" / "x.csv").read_text()
    assert csv == "t_s,rsrp_dbm,sinr_db\n0,-92,11\n3,-70,20\n"
    imported("ucc5g", file, tmp_path / "rates", kind="capacity")
    rates = played(tmp_path / "rates", 3)
    assert rates["dl_capacity_mbps"] == pytest.approx([8, 8, 4])
    assert rates["ul_capacity_mbps"] == pytest.approx([0.8, 0.8, 0.4])
    file.write_text(file.read_text() + rows[0].replace("09.38.22", "09.44.06"))
    with pytest.raises(RefusedError, match=r":6: no sample for 341 s"):
        imported("ucc5g", file, tmp_path / "gap", kind="capacity")


def test_taps_split_into_path_loss_and_fading(tmp_path: Path) -> None:
    rows = ["0.5,0,1e-7,0,100,0,1e-7\n", "0.6,0,1e-7,0,100,0,1e-7\n"]
    text = "t_s,delay_ns_1,re_1,im_1,delay_ns_2,re_2,im_2\n" + "".join(rows)
    scenario = imported("taps", source(tmp_path, text), tmp_path / "out")
    radio = scenario["radio"]
    assert isinstance(radio, dict)
    assert radio["level"]["path_loss_db"] == pytest.approx(140 - 3.0103, abs=1e-3)
    assert radio["fading"] == {"tap_series": {"file": "x.csv"}}
    first = (tmp_path / "out" / "x.csv").read_text().splitlines()[1].split(",")
    half = 0.707107  # each tap has half of a power of 1
    assert [float(value) for value in first] == [0, 0, half, 0, 100, 0, half]


def test_a_gnbs_log_over_the_wrap_of_its_frames(tmp_path: Path) -> None:
    blocks = [(896, -80, 7), (0, -82, 10), (128, -84, 0), (256, -86, 15)]
    text = "".join(GNB.format(frame=frame, rsrp=rsrp, cqi=cqi) for frame, rsrp, cqi in blocks)
    imported("oai", source(tmp_path, text), tmp_path / "out")
    rows = (tmp_path / "out" / "x.csv").read_text().splitlines()[1:]
    # CQI 0 is out of range; the second UE is ignored.
    assert [row.split(",")[:2] for row in rows] == [["0", "-80"], ["1.28", "-82"], ["3.84", "-86"]]


def test_a_log_without_cqi_gives_sinr_by_mcs(tmp_path: Path) -> None:
    lines = [line for line in GNB.splitlines(keepends=True) if "CQI" not in line]
    file = source(tmp_path, "".join(lines).format(frame=0, rsrp=-80))
    scenario = imported("oai", file, tmp_path / "out")
    assert "MCS" in str(scenario["sources"])
    row = (tmp_path / "out" / "x.csv").read_text().splitlines()[1]
    assert float(row.split(",")[2]) == pytest.approx(10 * np.log10(2**1.3262 - 1) + 1.5, abs=1e-4)


def test_pasted_logs_are_imported(tmp_path: Path) -> None:
    """Quoted and fenced, as in a mail or an issue, with the lines of errors as in the file."""
    gnb = "".join(GNB.format(frame=128 * n, rsrp=-80 - n, cqi=7) for n in range(3))
    text = "My gNB:\n```\n" + "".join(f"  {line}\n" for line in gnb.splitlines()) + "```\n"
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    imported("oai", source(tmp_path, quoted), tmp_path / "gnb")
    rows = (tmp_path / "gnb" / "x.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == ["-80", "-81", "-82"]
    phone = "mSignalStrength=SignalStrength:{mNr=CellSignalStrengthNr:{ ssRsrp = -64 ssSinr = 9 }}"
    file = source(tmp_path, f"> 1700000000\n> {phone}\n> 1700000001\n> {phone}\n")
    imported("android", file, tmp_path / "phone")
    csv = (tmp_path / "phone" / "x.csv").read_text()
    assert csv == "t_s,rsrp_dbm,sinr_db\n0,-64,9\n1,-64,9\n"
    with pytest.raises(RefusedError, match=r":4: the sample has no timestamp"):
        FORMATS["android"].read(
            source(tmp_path, f"Look:\n\n```\n{phone}\n```\n"), ImportOptions("x")
        )


def test_efficiencies_are_those_of_nr_links_own_tables() -> None:
    text = (LIBRARY.parent / "nr-link/model/src/radio/cqi.rs").read_text()
    assert all(f"{value:.4f}" in text for value in CQI_EFFICIENCY)
    text = (LIBRARY.parent / "nr-link/model/src/radio/mcs.rs").read_text()
    for table in MCS_EFFICIENCY:
        assert all(f"{value:.4f}" in text for value in table)


def test_a_phones_log_with_and_without_timestamps(tmp_path: Path) -> None:
    nr = "mSignalStrength=SignalStrength:{mNr=CellSignalStrengthNr:{ ssRsrp = -64 ssSinr = 30 }}\n"
    none = nr.replace("-64", "2147483647")
    lte = "mSignalStrength=SignalStrength:{mLte=CellSignalStrengthLte: rsrp=-84 rssnr=130}\n"
    stamped = f"1700000000.5\n{nr}1700000001.5\n{none}1700000003.5\n{lte}{nr}"
    imported("android", source(tmp_path, stamped), tmp_path / "out")
    csv = (tmp_path / "out" / "x.csv").read_text()
    assert csv == "t_s,rsrp_dbm,sinr_db\n0,-64,30\n3,-84,13\n"
    with pytest.raises(RefusedError, match=r":1: the sample has no timestamp. .*--period"):
        FORMATS["android"].read(source(tmp_path, nr), ImportOptions("x"))
    with pytest.raises(RefusedError, match=r":1: the log has timestamps.*Leave out --period"):
        FORMATS["android"].read(source(tmp_path, stamped), ImportOptions("x", period_s=1))


def test_of_a_phone_with_two_sims_one_is_played(tmp_path: Path) -> None:
    lte = "mSignalStrength=SignalStrength:{mLte=CellSignalStrengthLte: rsrp=-84 rssnr=130}\n"
    dump = f"  Phone Id=0\n{lte}  Phone Id=1\n{lte.replace('-84', '-115')}"
    imported("android", source(tmp_path, 2 * dump), tmp_path / "out", period_s=1.0)
    csv = (tmp_path / "out" / "x.csv").read_text()
    assert csv == "t_s,rsrp_dbm,sinr_db\n0,-84,13\n1,-84,13\n"


def test_a_bugreports_radio_log(tmp_path: Path) -> None:
    signal = "SignalStrength:{{mNr=CellSignalStrengthNr:{{ ssRsrp = {} ssSinr = 9 }}}} [PHONE{}]"
    rows = [(1.5, -70, 1), (2.0, -31, 0), (3.5, -80, 1)]
    lines = [
        f"11-21 23:59:{at:06.3f} radio  1 2 D RILJ: {signal.format(r, p)}" for at, r, p in rows
    ]
    text = "== dumpstate: 2026-11-22 00:00:09\n" + "\n".join(lines) + "\n"
    file = tmp_path / "bugreport-x.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("dumpstate_log.txt", "x" * 99999)
        archive.writestr("bugreport-x.txt", text)
    for name, given in (("zip", file), ("text", source(tmp_path, text))):
        imported("android", given, tmp_path / name)
        assert (tmp_path / name / "x.csv").read_text() == "t_s,rsrp_dbm,sinr_db\n0,-70,9\n2,-80,9\n"
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(RefusedError, match="not a whole zip"):
        FORMATS["android"].read(file, ImportOptions("x"))


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("mahimahi", "1\n3\n2\n", r":3: timestamp 2 ms comes after 3 ms. Sort the lines"),
        ("mahimahi", "1\nx\n", r":2: 'x' in column 1 is not an integer. Write bare numbers"),
        ("mahimahi", "0\n0\n", r"all timestamps are 0 ms. "),
        ("mahimahi", "1 5\n2 6\n", r":1: '1 5' in column 1 is not an integer. Write bare"),
        ("mahimahi", "1\n2,3\n", r":2: 2 columns in place of 1: '2,3'. Write bare numbers"),
        ("mahimahi", "", r"is empty. Give"),
        ("mahimahi", "\0\0\0", r"is not text. Give"),
        ("mahimahi", "99999999999\n", r"a scenario at most 21600 s. "),
        ("seconds-mbps", "1\n2\n", r":1: '1' is not two numbers. .*format mahimahi"),
        ("seconds-mbps", "# a\n1 5\n1 6\n", r":3: timestamp 1 s comes after 1 s. Sort"),
        ("seconds-mbps", "1 5\n2 NaN\n", r":2: the rate is missing or not finite. "),
        (
            "seconds-mbps",
            "1 5\n\n2 -6\n",
            r":3: -6 is not between 0 and .*. Convert the whole column",
        ),
        ("seconds-mbps", "1 5\n2 80000000\n", r":2: 8e\+07 is not between .* Mbit/s. Convert"),
        (
            "seconds-mbps",
            "1 5\n2 6 Mbit/s\n",
            r":2: 3 columns in place of 2: .*. Write bare numbers of one unit",
        ),
        (
            "seconds-mbps",
            "1,5\n2,6Mbps\n",
            r":2: '6Mbps' in column 2 is not a number. Write bare numbers of one unit",
        ),
        (
            "seconds-mbps",
            "0 10\n1 20\n4 12\n",
            r":3: no sample for 3 s, where they are 1 s apart. Write a line for each time",
        ),
        ("seconds-mbps", "# a\n", r"comments only. Give"),
        ("seconds-mbps", "0 5\n90000 5\n", r"lasts .* s, a scenario at most 21600 s. "),
        ("lumos5g", UCC_HEAD, r":1: no column run_num, .*. Give a CSV of Lumos5G"),
        ("lumos5g", LUMOS_HEAD, r"has no samples. Give"),
        ("lumos5g", f"{LUMOS_HEAD}1,2,,,,5,w\n1,1,,,,5,w\n", r":3: seq_num 1 comes after 2. Sort"),
        ("lumos5g", f"{LUMOS_HEAD}1,1,,,,,w\n", r":2: Throughput is missing .*. "),
        ("ucc5g", LUMOS_HEAD, r":1: no column Timestamp, .*. Give a CSV of UCC's"),
        (
            "ucc5g",
            f"{UCC_HEAD}14.02.2020,2,5G,-90,1,9,8,8,D\n",
            r":2: '14.02.2020' in column 1 is not a time of this format. Write each time",
        ),
        (
            "ucc5g",
            f"{UCC_HEAD}2020.02.14_09.38.22,2,5G,9000,1,9,8,8,D\n",
            r"RSRP 9000 in sample 1 is not between -156 and -31 dBm. Is the column in dBm",
        ),
        (
            "lumos5g",
            f"{LUMOS_HEAD}1,1,,,,5,w\n1,2,,,,5,w\n1,9,,,,5,w\n",
            r":4: no sample for 7 s, where they are 1 s apart. Write a line",
        ),
        ("taps", "t_s,re_1,im_1\n0,1,1\n", r":1: no column delay_ns_1 .*. Give a CSV of taps"),
        ("oai", "nothing of a gNB\n", r"no UE with RSRP .*. Give the gNB's"),
        ("android", "nothing of a phone\n", r"no SignalStrength with RSRP. Give"),
    ],
)
def test_invalid_files_are_refused_with_file_rule_and_fix(
    tmp_path: Path, form: str, text: str, expected: str
) -> None:
    file = source(tmp_path, text)
    with pytest.raises(RefusedError, match=f"(?s)^{file}.*{expected}"):
        imported(form, file, tmp_path / "out")
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_a_file_of_10_gb_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "huge"
    with file.open("wb") as stream:
        stream.write(b"1\n")
        stream.truncate(10 << 30)  # sparse
    with pytest.raises(RefusedError, match=r"has 10737418240 bytes, more than .*. Cut out"):
        FORMATS["mahimahi"].read(file, ImportOptions("x"))


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = source(tmp_path, "1\n2\n")
    imported("mahimahi", file, tmp_path)
    with pytest.raises(RefusedError, match=r"x\.yaml: exists already. Give another --name"):
        imported("mahimahi", file, tmp_path)


def test_a_trace_in_the_folder_of_the_scenario_is_played_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bus.down").write_text("1\n2\n2000\n")
    Path("bus.up").write_text("5\n2000\n")
    options = ["scenario", "import", "mahimahi", "bus.down", "--ul", "bus.up"]
    ran = CliRunner().invoke(app, options)
    assert ran.exit_code == 0, ran.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bus.down", "bus.up", "bus.yaml"]
    assert Path("bus.down").read_text() == "1\n2\n2000\n"
    assert "bus.down\n" not in ran.output.splitlines(keepends=True)  # Not written.
    validate(Path("bus.yaml"))


def test_an_input_of_the_name_of_an_output_is_called_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taps.csv").write_text("t_s,delay_ns_1,re_1,im_1\n0,0,1,0\n1,0,0.5,0\n")
    ran = CliRunner().invoke(app, ["scenario", "import", "taps", "taps.csv"])
    assert isinstance(ran.exception, RefusedError)
    assert str(ran.exception).startswith("taps.csv: is the input")
    assert "--name taps-1" in str(ran.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["taps.csv"]


@pytest.mark.parametrize(
    ("form", "options", "expected"),
    [
        ("mahimahi", "--as radio", "--as: the format mahimahi holds capacity only, not radio"),
        ("taps", "--as capacity", "--as: the format taps holds radio only"),
        (
            "mahimahi",
            "--run 2",
            r"--run: does not apply to the format mahimahi. .*for lumos5g, sionna\)",
        ),
        ("mahimahi", "--period 1s", r"--period: does not apply .*for sionna, quadriga, android\)"),
        ("ucc5g", "--ul x", r"--ul: does not apply .*for mahimahi, seconds-mbps\)"),
    ],
)
def test_an_option_of_other_formats_is_refused(
    tmp_path: Path, form: str, options: str, expected: str
) -> None:
    file = source(tmp_path, "1\n2000\n")
    made = tmp_path / "made"
    words = ["scenario", "import", form, str(file), *options.split(), "--output", str(made)]
    ran = CliRunner().invoke(app, words)
    assert isinstance(ran.exception, RefusedError)
    assert ran.exception.exit_code == 2
    assert re.match(expected, str(ran.exception)), ran.exception
    assert not made.exists()


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("mahimahi", "traces/downlink-3g-mahimahi.txt"),
        ("seconds-mbps", "traces/lumos5g/5g_trace_116_walking"),
        ("seconds-mbps", "traces/lumos5g/5g_trace_105_driving"),
        ("ucc5g", "traces/ucc5g/B_2020.02.14_09.38.22.csv"),
        ("ucc5g", "traces/ucc5g/B_2020.02.27_20.35.57.csv"),
        ("ucc5g", "traces/ucc5g/static-B_2020.02.14_13.21.26.csv"),
        ("oai", "oai/nrMAC_stats-history-2026w11-do-ra.txt"),
        ("oai", "oai/gnb-stdout-2026mid.txt"),
        ("oai", "oai/gnb-stdout-2024q1-two-ue.txt"),
        ("oai", "oai/gnb-stdout-2023w16-rfsim.txt"),
        ("android", "android/telephony-registry-signal.txt"),
    ],
)
def test_real_files_are_accepted(tmp_path: Path, form: str, path: str) -> None:
    scenario = imported(form, shared(path), tmp_path, period_s=1.0)
    seconds = min(float(str(scenario["duration_s"])), 30.0)
    assert played(tmp_path, seconds)["dl_capacity_mbps"].max() > 0


def test_every_shipped_scenario_validates() -> None:
    for file in sorted(LIBRARY.glob("*.yaml")):
        validate(file)


def test_an_import_prints_its_chosen_values(tmp_path: Path) -> None:
    table = tmp_path / "walk.csv"
    table.write_text("0,10\n1,20\n")
    into = ("--output", str(tmp_path / "made"))
    ran = CliRunner().invoke(app, ["scenario", "import", "seconds-mbps", str(table), *into])
    assert ran.exit_code == 0, ran.output
    assert "capacity of 2 s: Measured rates of walk.csv: 15.0 Mbit/s" in ran.output
    assert "Uplink: chosen, the downlink's highest rate." in ran.output
    assert "Licence: unknown (name it with --license)" in ran.output
    assert ran.output.endswith(f"next: ccu run --cc cubic --scenario {tmp_path}/made/walk.yaml\n")


def test_chosen_values_of_a_radio_are_among_its_sources(tmp_path: Path) -> None:
    taps = tmp_path / "taps.csv"
    taps.write_text("t_s,delay_ns_1,re_1,im_1\n0,0,1,0\n1,0,0.5,0\n")
    sources = imported("taps", taps, tmp_path / "made")["sources"]
    assert isinstance(sources, list)
    assert sources[1:] == [
        "Power of the SSB: chosen, 0 dBm a resource element.",
        "Noise: chosen, a noise figure of 7 dB.",
    ]


def test_blanks_in_a_header_are_told(tmp_path: Path) -> None:
    file = tmp_path / "taps.csv"
    file.write_text("t_s, delay_ns_1, re_1, im_1\n0,0,1,0\n1,0,1,0\n")
    with pytest.raises(RefusedError, match=r"taps\.csv:1: no column delay_ns_1"):
        FORMATS["taps"].read(file, ImportOptions("x"))


@pytest.mark.parametrize(
    ("text", "kind", "columns"),
    [
        ("Time (s),DL throughput [Mbit/s],UL_kbps\n5,10,500\n6,20,600\n", "capacity",
         {"t_s": [0, 1], "mbps": [10, 20]}),
        ("timestamp_ms,cell,rsrp_dbm,SINR (dB)\n1000,7,-90,12\n1500,7,-95,8\n", "radio",
         {"t_s": [0, 0.5], "rsrp_dbm": [-90, -95], "sinr_db": [12, 8]}),
        ("utc,bps\n2024-05-01 10:00:00.5,1000000\n2024-05-01T10:00:02.5,3000000\n", "capacity",
         {"t_s": [0, 2], "mbps": [1, 3]}),
        ("time,mbps\n2024-05-01T10:00:00Z,1\n2024-05-01T10:00:02.5Z,3\n", "capacity",
         {"t_s": [0, 2.5], "mbps": [1, 3]}),
        ("time,mbps\n2024-05-01T10:00:00+02:00,1\n2024-05-01T09:00:01+01:00,3\n", "capacity",
         {"t_s": [0, 1], "mbps": [1, 3]}),
    ],
)  # fmt: skip
def test_columns_are_known_by_their_names(
    tmp_path: Path, text: str, kind: str, columns: dict[str, list[float]]
) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    imported = FORMATS["csv"].read(file, ImportOptions("own"))
    assert imported.kind == kind
    series = next(iter(imported.columns.values()))
    assert {name: list(values) for name, values in series.items()} == columns


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("second,Mbps\n1,2\n1,3\n", r":3: timestamp 1 s comes after 1 s"),
        ("x,dl_mbps\n1,2\n", r":1: has no column of the time \(there are x, dl_mbps\). Name them"),
        ("t_s,cell\n1,2\n", r":1: has no column of RSRP or a downlink rate"),
        ("t_s,dl_mbps\n1,-2\n", r": dl_mbps is negative"),
        ("t_s,dl_mbps\n1,fast\n", r":2: 'fast' in column 2 is not a number"),
        ("timestamp_ms,bps\n2000,1\n1000,1\n", r":3: timestamp 1 s comes after 2 s"),
        ("t_s,dl_mbps\n0,1\n1,2\n5,3\n", r":4: no sample for 4 s, where they are 1 s apart"),
        ("t_s,DL (MBps)\n0,1\n", r":1: DL \(MBps\) is in bytes. Write bits per second"),
        ("t_s,dl_mbps,dl_mbps\n0,1,2\n", r":1: 2 columns are named dl_mbps"),
        (
            "time,mbps\n2024-05-01T10:00:00Z,1\n2024-05-01T10:00:01,3\n",
            r":3: '2024-05-01T10:00:01' in column 1 has no zone, unlike the first time",
        ),
    ],
)
def test_a_csv_that_cannot_be_played_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(RefusedError, match=rule):
        FORMATS["csv"].read(file, ImportOptions("own"))


DRIVE = "time,active interface,handover type\n"


def test_a_drive_becomes_handovers_between_cells_of_its_generations(tmp_path: Path) -> None:
    events = "10,4G,unknown\n15,4G,4t4\n20.5,NSA 5G,4t5\n30,SA 5G,5t5\n31,4G,5t4\n"
    scenario = imported("drive", source(tmp_path, DRIVE + events), tmp_path / "made")
    handovers = scenario["radio"]["handovers"]  # type: ignore[index]
    assert [(one["t_s"], one["cell"]) for one in handovers] == [
        (0.0, 0), (5.0, 1), (10.5, 2), (20.0, 3), (21.0, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("5,4G,unknown\n4,4G,4t4\n", ":3: the event at 4 s comes after the one at 5 s"),
        ("5,4G,unknown\n6,4G,5t4\n", ":3: the handover 5t4 begins in 5G, and the UE is in 4G"),
        ("5,3G,unknown\n6,4G,4t4\n", ":2: '3G' is not an interface"),
        ("5,4G,unknown\nx,4G,4t4\n", ":3: the time 'x' is not a number"),
        ("5,4G,unknown\n6,4G,4to4\n", ":3: '4to4' is not a type of handover"),
        ("", ": has no events"),
    ],
)
def test_a_drive_that_cannot_have_been_is_refused(
    events: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match=re.escape(f"measured.txt{message}")):
        imported("drive", source(tmp_path, DRIVE + events), tmp_path / "made")
