# SPDX-License-Identifier: Apache-2.0
"""Android's bugreports, zipped and as text: every time in them counts; bad ones are one error."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

import pytest

from ddu.align.mac_samples import mac_samples
from ddu.analyze import analysis_of
from ddu.console.problems import RefusedError
from ddu.describe import describe
from ddu.importing.run import import_folder
from ddu.readers.android import bugreport_text
from ddu.readers.android.log import read_phone_log
from testsupport.synthetic_run import T0, steady

SEEDS = Path(__file__).parent / "seeds" / "android"
NAME = "bugreport-test-UP1A-2026-11-21-11-36-15"
LTE, SA = "14(LTE)", "20(NR_SA)"


def state(radio: str) -> str:
    kind = "NR" if radio == SA else "LTE"
    return (
        f"{{mVoiceRegState=0(IN_SERVICE), mDataRegState=0(IN_SERVICE), "
        f"getRilDataRadioTechnology={radio}, mNetworkRegistrationInfos=[NetworkRegistrationInfo{{ "
        f"domain=PS transportType=WWAN accessNetworkTechnology={kind} nrState=NONE}}]}}"
    )


def signal(rsrp: int) -> str:
    return (
        "SignalStrength:{mLte=Invalid,mNr=CellSignalStrengthNr:{ ssRsrp = "
        f"{rsrp} ssRsrq = -11 ssSinr = 19 }},primary=CellSignalStrengthNr}}"
    )


REGISTRY = f"""Last known state:
  Phone Id=0
    mServiceState={state(LTE)}
    mSignalStrength={signal(-120)}
    mDataConnectionState=0
  Phone Id=1
    mServiceState={state(SA)}
    mSignalStrength={signal(-70)}
    mDataConnectionState=2
local logs:
  2026-11-21T11:35:15.000 - notifyServiceStateForSubscriber: subId=2 phoneId=1 state={state(LTE)}
  2026-11-21T11:35:16.500 - notifyServiceStateForSubscriber: subId=1 phoneId=0 state={state(SA)}
  2026-11-21T11:35:19.250 - notifyServiceStateForSubscriber: subId=2 phoneId=1 state={state(SA)}
"""
REPORT = f"""========================================================
== dumpstate: 2026-11-21 11:36:05
========================================================

------ SYSTEM PROPERTIES (getprop) ------
[gsm.network.type]: [NR]
[persist.sys.timezone]: [Europe/Berlin]
------ RADIO LOG (logcat -b radio -v threadtime -v printable -v uid -d *:v) ------
--------- beginning of radio
11-21 11:35:17.000 radio  1234  1240 D RILJ    : [UNSL]< UNSOL_SIGNAL_STRENGTH {signal(-95)} [PHONE1]
11-21 11:35:18.000 radio  1234  1240 D RILJ    : [UNSL]< UNSOL_SIGNAL_STRENGTH {signal(-60)} [PHONE0]
11-21 11:35:19.300 radio  1234  1234 D SST     : [1] Poll ServiceState done:  oldSS=[{state(LTE)}] newSS=[{state(SA)}] oldMaxDataCalls=1
12-30 11:35:20.000 radio  1234  1240 D RILJ    : [UNSL]< UNSOL_SIGNAL_STRENGTH {signal(-101)} [PHONE1]
------ 0.053s was the duration of 'RADIO LOG' ------
-------------------------------------------------------------------------------
DUMP OF SERVICE power:
  mWakefulness=Awake
--------- 0.005s was the duration of dumpsys power, ending at: 2026-11-21 11:36:10
-------------------------------------------------------------------------------
DUMP OF SERVICE telephony.registry:
{REGISTRY}--------- 0.005s was the duration of dumpsys telephony.registry, ending at: 2026-11-21 11:36:15
-------------------------------------------------------------------------------
DUMP OF SERVICE usb:
  mSignalStrength={signal(-31)}
--------- 0.005s was the duration of dumpsys usb, ending at: 2026-11-21 11:36:16
"""  # noqa: E501


def zipped(file: Path, entries: dict[str, str]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return file


@pytest.fixture
def report(tmp_path: Path) -> Path:
    others = {"dumpstate_log.txt": "x\n" * 9999, "FS/data/anr/anr_1.txt": "", "version.txt": "2.0"}
    return zipped(tmp_path / f"{NAME}.zip", others | {f"{NAME}.txt": REPORT})


def test_every_time_of_a_zipped_report_counts(report: Path) -> None:
    log = read_phone_log(report)
    table = log.table.set_index((log.table["utc_ns"] - T0) / 1e9)
    changes = table[[round(at, 6) == at for at in table.index]]
    # A year ago, then the walk: the other SIM's are not among them, and no state is reported twice.
    assert list(changes.index) == [-28_166_395.0, 0, 2, 4.25, 60]
    assert list(changes["mac_technology"].fillna(-1)) == [-1, 1, 1, 3, 3]
    assert list(changes["mac_nr_rsrp_dbm"]) == [-101, -101, -95, -95, -70]
    # Just before each change what was is still in force.
    assert list(table["mac_technology"].iloc[1:].fillna(-1)) == [-1, 1, 1, 1, 1, 3, 3, 3]


def test_the_text_alone_says_the_same(report: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(REPORT)
    read, packed = read_phone_log(tmp_path / "text.txt").table, read_phone_log(report).table
    assert read.equals(packed)


@pytest.mark.parametrize("way", ["nested", "vendor's name", "named by main_entry.txt"])
def test_other_zips_of_reports(report: Path, tmp_path: Path, way: str) -> None:
    given = tmp_path / "bugreport-2026.zip"
    if way == "nested":
        with zipfile.ZipFile(given, "w") as archive:
            archive.write(report, f"logs/{report.name}")
            archive.writestr("other.log", "x")
    elif way == "vendor's name":
        zipped(given, {"dumpState_G998B.log": REPORT, "more.log": "x"})
    else:
        zipped(given, {"main_entry.txt": "a.b\n", "a.b": REPORT, f"{NAME}.txt": "x" * 9**6})
    assert read_phone_log(given).table.equals(read_phone_log(report).table)


def test_a_report_joins_a_capture(report: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bridge_DL"
    folder.mkdir()
    shutil.copy(report, folder)
    made = steady(packets=6000).write(tmp_path / "made")
    shutil.copy(made / "raw" / "sender.pcap", folder / "server_cubic.pcap")
    (imported,) = import_folder(folder, tmp_path / "runs")
    analysis = analysis_of(imported.path)
    aligned = analysis.tables["aligned"].set_index("t_s")
    technology = aligned["mac_technology"]
    assert set(technology[technology.index < 4]) == {1}
    assert set(technology[technology.index > 4.5]) == {3}
    assert analysis.tables["events"]["event"].tolist() == ["technology"]
    assert describe(report)["rows"] == 9


@pytest.mark.parametrize(("named", "instead"), [("persist.sys", "x"), ("Europe/", "Mars/")])
def test_a_report_that_names_no_zone_has_no_times(tmp_path: Path, named: str, instead: str) -> None:
    file = tmp_path / "report.txt"
    file.write_text(REPORT.replace(named, instead))
    log = read_phone_log(file)
    assert log.table["utc_ns"].isna().all()
    assert list(log.table["mac_rsrp_dbm"]) == [-70]
    assert "time zone" in " ".join(log.notes)


def test_a_report_that_stops_within_the_registry(tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text(REPORT[: REPORT.index("local logs")])
    log = read_phone_log(file)
    assert set(log.table["mac_nr_rsrp_dbm"].dropna()) == {-101, -95}
    assert "stops within" in " ".join(log.notes)
    assert "which of 2 SIMs" in " ".join(log.notes)


def bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{NAME}.txt", REPORT + "\n" * (4 << 20))
    return packed.getvalue()


@pytest.mark.parametrize("of", ["truncated", "damaged", "other", "no registry", "bomb", "empty"])
def test_bad_zips_are_one_clear_error(
    report: Path, tmp_path: Path, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = report.read_bytes()
    middle = content.rindex(NAME.encode(), 0, content.rindex(b"PK\x01\x02")) + 200
    if of == "other":
        zipped(report, {"holiday.jpg": "x"})
    elif of == "no registry":
        zipped(report, {f"{NAME}.txt": "== dumpstate: 2026-11-21 11:36:05\n"})
    else:
        report.write_bytes(
            {
                "truncated": content[: len(content) // 2],
                "damaged": content[:middle] + bytes(20) + content[middle + 20 :],
                "bomb": bomb(),
                "empty": b"",
            }[of]
        )
    monkeypatch.setattr(bugreport_text, "_MOST_BYTES", 1 << 20)
    message = {
        "truncated": "not a whole zip", "damaged": "not a whole zip", "other": r"no bugreport-\*",
        "no registry": "no `DUMP OF SERVICE", "bomb": "more than 1 MiB", "empty": "empty",
    }[of]  # fmt: skip
    with pytest.raises(RefusedError, match=message) as error:
        read_phone_log(report)
    assert str(error.value).startswith(f"{report}: ")
    folder = tmp_path / "bridge_DL"
    folder.mkdir()
    shutil.move(report, folder)
    (folder / "server_cubic.pcap").write_bytes(b"")
    with pytest.raises(RefusedError, match=message):
        import_folder(folder, tmp_path / "runs")


def test_of_two_changes_at_one_instant_the_later_holds(tmp_path: Path) -> None:
    line = "11-21 11:35:17.000 radio  1234  1240 D RILJ    : [UNSL]< UNSOL_SIGNAL_STRENGTH "
    twice = f"{line}{signal(-99)} [PHONE1]\n{line}{signal(-95)} [PHONE1]\n"
    (tmp_path / "text.txt").write_text(REPORT.replace(f"{line}{signal(-95)} [PHONE1]\n", twice))
    log = read_phone_log(tmp_path / "text.txt")
    assert log.table["utc_ns"].is_monotonic_increasing
    assert not any("set back" in note for note in log.notes)
    samples = mac_samples(log)
    at = samples[samples["utc_ns"] <= T0 + 3 * 10**9].iloc[-1]
    assert at["mac_nr_rsrp_dbm"] == -95
