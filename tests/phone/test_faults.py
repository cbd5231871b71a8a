# SPDX-License-Identifier: Apache-2.0
"""The faults of phones: each is reported in one message with a fix, and nothing is left running."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ccu.host.namespace import inside
from ccu.testbeds.phone import data_plan, radio_log, survey
from ccu.testbeds.phone.adb import Adb
from ddu.analyze import analysis_of
from ddu.console.problems import RefusedError
from testsupport import held
from testsupport.phone.street import Street
from testsupport.prepared import WITHOUT_SPEED, Started
from testsupport.runs import manifest_in
from testsupport.waiting import until

RUN = ("run", "--testbed", "phone", "--cc", "cubic", "--duration", "2s")
SIGNAL = "cqiTableIndex=2147483647 cqi=2147483647 ta=2147483647 level=4"
LTE = f"""last known state:
  Phone Id=0
    mServiceState={{mDataRegState=0(IN_SERVICE), getRilDataRadioTechnology=14(LTE), mNetworkRegistrationInfos=[NetworkRegistrationInfo{{ domain=PS transportType=WWAN accessNetworkTechnology=LTE cellIdentity=CellIdentityLte:{{ mCi=**** mPci=**** mTac=**** mBands=[3] mMcc=null }} nrState=NONE}}]}}
    mSignalStrength=SignalStrength:{{mLte=CellSignalStrengthLte: rssi=-60 rsrp=-95 rsrq=-10 rssnr=12 {SIGNAL},mNr=Invalid,primary=CellSignalStrengthLte}}
    mDataConnectionState=2
"""  # noqa: E501


def refused(street: Street, *more: str, args: tuple[str, ...] = RUN) -> str:
    """Return the message of a run that is refused before anything starts."""
    output = street.folder / "refused"
    ran = street.ccu(*args, *more, "--output", str(output))
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    assert not output.exists()
    return ran.stderr


@pytest.mark.root
def test_refused_experiments(street: Street) -> None:
    assert "USB debugging" in refused(street)
    street.adbd.authorised = False
    street.plug_in()
    assert "tap Allow" in refused(street)
    street.adb("disconnect")
    street.adbd.authorised = True
    street.plug_in()
    street.set(airplane="1")
    assert "airplane mode" in refused(street)
    street.set(airplane="0")
    assert "there is no phone 'abc'" in refused(street, "--serial", "abc")
    both = refused(street, "--cc", "vegaz", "--phone-load", "iperf3")
    assert "vegaz" in both
    assert "no executable iperf3" in both


@pytest.mark.root
@pytest.mark.parametrize(
    ("state", "word"),
    [
        ({"airplane": "1"}, "airplane mode"),
        ({"sim": "PIN_REQUIRED"}, "PIN"),
        ({"sim": "ABSENT"}, "SIM is ABSENT"),
        ({"route": "198.51.100.1 dev wlan0 src 192.168.1.7 uid 2000"}, "Wi-Fi"),
        ({"route": "RTNETLINK answers: Network is unreachable"}, "no data connection"),
        ({"limit_bytes": "1000000"}, "data limit"),
        ({"limit_bytes": "1500000000", "used_bytes": "500000001"}, "500000001 bytes used"),
    ],
)
def test_problems_that_the_phone_reports(
    street: Street, monkeypatch: pytest.MonkeyPatch, state: dict[str, str], word: str
) -> None:
    """The real adb is used, without a complete run."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(street.adb_port))
    phone = Adb(street.plug_in())
    street.set(**state)

    def check() -> None:
        survey.check_radio(phone, street.server_address)
        data_plan.of(phone).check(10**9)

    with inside(street.server), pytest.raises(RefusedError, match=word):
        check()


@pytest.mark.root
def test_two_phones(street: Street) -> None:
    serial = street.plug_in()
    street.adb("connect", serial.replace("127.0.0.1", "localhost"))
    printed = refused(street)
    assert "2 phones" in printed
    assert serial in printed


@pytest.mark.root
def test_the_doctor_and_a_dry_run(street: Street) -> None:
    def examined() -> tuple[int, dict[str, dict[str, Any]]]:
        said = street.start("ccu", "doctor", "--testbed", "phone", "--json", changed=WITHOUT_SPEED)
        ended = said.result()
        return ended.returncode, {one["name"]: one for one in json.loads(ended.stdout)}

    code, checks = examined()
    assert code == 1
    assert "USB debugging" in checks["phone"]["fix"]
    street.plug_in()
    _, checks = examined()
    assert "Test 5G, Android 14" in checks["phone"]["detail"]
    assert checks["radio"]["detail"] == "rmnet_data0, 198.51.100.2"
    planned = street.ccu(*RUN, "--dry-run")
    assert planned.returncode == 0
    assert "at most 1000 MB" in planned.stdout
    assert "the phone has used 0 MB since" in planned.stdout
    assert "prb" not in planned.stdout


def started(street: Street, output: Path) -> Started:
    """Return a run whose traffic flows."""
    run = street.start("ccu", *RUN[:-1], "60s", "--output", output)
    until(lambda: '"served"' in recorded(output, "phone/sender.jsonl"), run)
    return run


def recorded(output: Path, name: str) -> str:
    """Return what a run has written to a file so far."""
    return "".join(file.read_text() for file in output.glob(f"*/raw/{name}"))


def processes_of(street: Street) -> list[str]:
    """Return the processes in the server's network, except adb's server."""
    pids = subprocess.run(
        ["ip", "netns", "pids", street.server], capture_output=True, text=True
    ).stdout.split()
    names = [Path(f"/proc/{pid}/comm") for pid in pids if int(pid) != os.getpid()]
    return [name.read_text().strip() for name in names if name.exists()]


@pytest.mark.root
def test_unplugged_in_the_middle(street: Street, tmp_path: Path) -> None:
    street.plug_in()
    run = started(street, tmp_path)
    street.adbd.unplug()
    assert run.wait() == 1, run.printed
    assert "phone" in run.printed
    assert manifest_in(tmp_path)["status"] == "failed"
    assert set(processes_of(street)) <= {"adb"}


@pytest.mark.root
def test_changes_during_a_run(street: Street, tmp_path: Path) -> None:
    """The screen locks, the phone falls back to LTE with redacted identities, its clock is set."""
    street.plug_in()
    output = tmp_path / "runs"
    seen = tmp_path / "seen"
    words = ("ccu", *RUN, "--output", output)
    run = street.start(*words, changed=held.after_traffic(seen))
    until(lambda: "NR_SA" in recorded(output, radio_log.FILE), run)
    street.set(wakefulness="Asleep", registry=LTE, clock_ahead_s="60")
    until(lambda: "14(LTE)" in recorded(output, radio_log.FILE), run)
    seen.touch()
    assert run.wait() == 0, run.printed
    content = manifest_in(output)
    assert content["verdict"] == "degraded"
    assert "clock was set by +60.0 s" in " ".join(content["verdict_reasons"])
    (directory,) = output.iterdir()
    analysis = analysis_of(directory)
    summary = analysis.summary
    assert summary["events_count"]["technology"] == 1
    mac = analysis.tables["mac"]
    assert mac["t_s"].is_monotonic_increasing
    assert mac["duration_ns"].max() < 50e9  # and none of a minute
    assert "LTE" in " ".join(summary["verdict_reasons"])


@pytest.mark.root
def test_the_server_is_not_reachable(street: Street, tmp_path: Path) -> None:
    street.plug_in()
    # An address where nothing listens: the phone's own.
    street.set(route="198.51.100.2 dev rmnet_data0 src 198.51.100.2")
    ran = street.ccu(*RUN, "--server-address", "198.51.100.2", "--output", str(tmp_path))
    assert ran.returncode == 1
    assert "Open TCP port 5201" in ran.stderr
