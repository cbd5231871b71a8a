# SPDX-License-Identifier: Apache-2.0
"""The telnet dialogue, the replay at the radio's pace, and the gNB's counters."""

from __future__ import annotations

import csv
import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccu.scenarios import oai_channel_model as channel
from ccu.scenarios.oai_channel_model import Setting
from ccu.testbeds.oai import gnb_files, telnet
from ccu.testbeds.oai.frame_clock import FrameClock
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.replay import ChannelLog, Replay, Track
from ccu.testbeds.oai.telnet import Softmodem, TelnetFailed
from ccu.testbeds.oai.verdict import real_time_verdict
from testsupport.oai.stand_in.modem_telnet import ModemTelnet
from testsupport.waiting import until

# As printed by a gNB of 2026.w11.
RECORDED_MODELS = """\
model 0 rfsimu_channel_enB0 type AWGN:
model owner: not set
nb_tx: 1    nb_rx: 1    taps: 1 bandwidth: 40000000.000000    sampling: 61440000.000000
channel length: 1    Max path delay: 0.000000   ricean fact.: 0.000000    angle of arrival: 0.000000
max Doppler: 0.000000    path loss: 20.000000  noise: -10.000000 rchannel offset: 0    forget factor
Initial phase: 0.000000   nb_path: 10
taps: 0   lin. ampli. : 1.000000    delay: 0.000000
----------------
model 1 rfsimu_channel_ue0 type AWGN:
model owner: rfsimulator
nb_tx: 1    nb_rx: 1    taps: 1 bandwidth: 40000000.000000    sampling: 61440000.000000
channel length: 1    Max path delay: 0.000000   ricean fact.: 0.000000    angle of arrival: 0.000000
max Doppler: 0.000000    path loss: -5.000000  noise: 0.000000 rchannel offset: 0    forget factor
Initial phase: 0.000000   nb_path: 10
taps: 0   lin. ampli. : 1.000000    delay: 0.000000
----------------
"""


@pytest.fixture
def modem() -> Iterator[Callable[..., tuple[Any, Softmodem]]]:
    """Start a stand-in and connect to it."""
    made: list[Any] = []

    def make(**how: Any) -> tuple[Any, Softmodem]:
        models = [("rfsimu_channel_ue0", -2.0), ("rfsimu_channel_enB0", -4.0)]
        server = ModemTelnet("127.0.0.1", 0, "softmodem_gnb> ", models, **how)
        made.append(server)
        client = Softmodem("127.0.0.1", server._listener.getsockname()[1])
        made.append(client)
        return server, client

    yield make
    for one in made:
        one.close()


def test_recorded_models_are_read() -> None:
    first, second = telnet.parse_models(RECORDED_MODELS)
    assert (first.index, first.name, first.ploss_db, first.noise_db) == (
        0,
        "rfsimu_channel_enB0",
        20.0,
        -10.0,
    )
    assert (second.name, second.kind, second.ploss_db) == ("rfsimu_channel_ue0", "AWGN", -5.0)


def test_the_dialogue(modem: Callable[..., tuple[Any, Softmodem]]) -> None:
    server, client = modem()
    assert [model.name for model in client.models()] == [
        "rfsimu_channel_ue0",
        "rfsimu_channel_enB0",
    ]
    client.modify(0, "noise_power_dB", 3.5)
    client.modify(0, "ploss", -7)
    assert (client.models()[0].noise_db, client.models()[0].ploss_db) == (3.5, -7)
    # The prompt comes before the answer of one command, and after that of the other.
    first = client.radio_time()
    assert client.statistics()["O1-Operational"]["num-ues"] == 1
    assert client.radio_time()[0] > first[0]
    assert first[1] == 61.44e6
    assert server.models[0]["noise_power_dB"] == 3.5


def test_a_value_that_is_not_applied_is_reported(
    modem: Callable[..., tuple[Any, Softmodem]],
) -> None:
    server, client = modem()
    server.models[0].pop("ploss")  # such a parameter is answered by the prompt alone
    client._patience_s = 0.3
    with pytest.raises(TelnetFailed, match="ploss of model 0 is nothing after 5 was set"):
        client.modify(0, "ploss", 5)


def test_a_server_that_refuses_or_disconnects_is_reported(
    modem: Callable[..., tuple[Any, Softmodem]],
) -> None:
    _, client = modem(refuses=True)
    with pytest.raises(TelnetFailed, match=r"closed the connection|reset"):
        client.models()
    with pytest.raises(TelnetFailed, match=r"127\.0\.0\.1:1: Connection refused"):
        Softmodem("127.0.0.1", 1)


def test_a_replay_follows_the_radios_time_and_restores_the_channel(
    modem: Callable[..., tuple[Any, Softmodem]], tmp_path: Path
) -> None:
    server, client = modem(pace=2.0)
    clock = RadioClock(tmp_path / "radio-time.csv")
    settings = [Setting(20.0, -10.0 + index / 10) for index in range(200)]
    next_read = [0.0]

    def tick(_room_s: float) -> None:
        if time.monotonic() >= next_read[0]:
            next_read[0] = time.monotonic() + 0.2
            samples, rate = client.radio_time()
            clock.read(samples, rate, time.time_ns(), time.monotonic())

    log = ChannelLog(tmp_path / "ul.csv")
    track = Track(client, "rfsimu_channel_ue0", 0, settings)
    replay = Replay(client, [track], clock, log, tick)
    replay.start()
    until(lambda: changes_made(server) > 5)
    replay.finish()
    clock.close()
    log.close()
    assert server.models[0] == {
        "name": "rfsimu_channel_ue0",
        "ploss": 20.0,
        "noise_power_dB": -2.0,
    }
    with (tmp_path / "ul.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    # Whatever the host's load: the setting due at a radio time is the one that was set.
    begin_s = float(rows[0]["radio_s"])
    assert len(rows) > 3
    for row in rows:
        index = round((float(row["radio_s"]) - begin_s) / channel.STEP_S)
        assert float(row["noise_db"]) == pytest.approx(settings[index].noise_db)
    assert changes_made(server) == len(rows) + 1


def test_a_setting_that_cannot_be_logged_is_a_failure(
    modem: Callable[..., tuple[Any, Softmodem]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The replay ends with it: without a word the channel would stay as it is."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ChannelLog, "write", full)
    _, client = modem()
    clock = RadioClock(tmp_path / "radio-time.csv")
    for second in range(3):
        clock.read(round(second * 61.44e6), 61.44e6, second * 10**9, time.monotonic() - 2 + second)
    track = Track(client, "rfsimu_channel_ue0", 0, [Setting(20.0, -10.0)])
    replay = Replay(client, [track], clock, ChannelLog(tmp_path / "ul.csv"))
    replay.start()
    until(lambda: not replay._thread.is_alive())
    assert replay.failure is not None
    assert "No space left" in replay.failure
    replay.finish()


def changes_made(server: Any) -> int:
    return sum(command.startswith("channelmod modify") for _, command in list(server.history))


def test_the_verdict_depends_on_the_real_time_factor(tmp_path: Path) -> None:
    def verdict(pace: float) -> tuple[str, list[str]]:
        clock = RadioClock(tmp_path / "radio-time.csv")
        for second in range(5):
            clock.read(int(second * pace * 61.44e6), 61.44e6, second * 10**9, float(second))
        clock.close()
        assert clock.mean_ratio() == pytest.approx(pace, abs=1e-3)
        return real_time_verdict(clock)

    assert verdict(1.02) == ("valid", [])
    assert verdict(0.78)[0] == "degraded"
    assert "0.78 of real time" in verdict(0.78)[1][0]
    assert verdict(2.5)[0] == "degraded"
    assert verdict(0.01)[0] == "invalid"
    rows = (tmp_path / "radio-time.csv").read_text().splitlines()
    assert rows[0] == "utc_ns,duration_ns,radio_s,real_time_ratio"
    assert len(rows) == 5


@given(st.floats(-140, 0), st.floats(-20, 60))
def test_a_better_channel_never_gets_a_worse_setting(rsrp_dbm: float, sinr_db: float) -> None:
    now = channel.setting(rsrp_dbm, sinr_db)
    better = channel.setting(rsrp_dbm, sinr_db + 3)
    stronger = channel.setting(rsrp_dbm + 3, sinr_db)
    assert better.ploss_db == now.ploss_db
    assert better.noise_db <= now.noise_db
    assert stronger.ploss_db >= now.ploss_db
    assert 0 <= now.ploss_db <= 20


@pytest.mark.parametrize(
    ("noise_db", "simulated_db"),
    # Downlink with MCS 14, 20, 23; uplink with MCS 9, 14, 17, 20, 23.
    [
        *[(-4.58, 9.23), (-6.91, 13.95), (-8.2, 16.65)],
        *[(-2.48, 4.78), (-4.72, 9.17), (-5.81, 11.27), (-6.95, 13.96), (-8.27, 16.31)],
    ],
)
def test_a_tenth_of_blocks_fails_at_the_sinr_of_the_link_simulators(
    noise_db: float, simulated_db: float
) -> None:
    # The noise at which a real gNB and UE with a fixed MCS failed so, at ploss 0.
    assert channel.sinr_db(Setting(0.0, noise_db)) == pytest.approx(simulated_db, abs=0.5)


@pytest.mark.parametrize(
    ("weak_db", "strong_db"), [(9.2, 11.8), (10.54, 12.75), (11.45, 15.49), (13.96, 16.83)]
)
def test_a_strong_signal_needs_more(weak_db: float, strong_db: float) -> None:
    # MCS 14, 16, 17 and 20 of the link simulators, at the amplitudes of ploss 0 and 20.
    weak, strong = channel.setting(-64, weak_db), channel.setting(-44, weak_db)
    assert (weak.ploss_db, strong.ploss_db) == (0, 20)
    # A setting is rounded to 0.2 dB.
    assert 2 * (weak.noise_db + 10 - strong.noise_db) == pytest.approx(
        strong_db - weak_db, abs=0.25
    )


@given(st.floats(-70, -44), st.floats(-5, 40))
def test_a_setting_makes_the_sinr_that_was_wanted(rsrp_dbm: float, sinr_db: float) -> None:
    made = channel.setting(rsrp_dbm, sinr_db)
    if made.noise_db > -30:  # else the limit
        # Noise is set in tenths of a step of 2 dB: the SINR of the powers is off by 0.1 dB at most,
        # that of a strong signal by up to 3.2 times as much (from -2.9 to 0 dB).
        assert channel.sinr_db(made) == pytest.approx(sinr_db, abs=0.33)


def test_mac_bytes_of_every_format() -> None:
    old = "UE 4938: dlsch_total_bytes 2467010\nUE 4938: ulsch_total_bytes_scheduled 9, "
    old += "ulsch_total_bytes_received 7\nUE 1: dlsch_total_bytes 1\n"
    new = "UE c: MAC:    TX         380016 RX         356230 bytes\n"
    assert gnb_files.mac_bytes(old, "dl") == 2467011
    assert gnb_files.mac_bytes(old, "ul") == 7
    assert gnb_files.mac_bytes(new, "dl") == 380016
    assert gnb_files.mac_bytes(new, "ul") == 356230
    assert gnb_files.mac_bytes("LCID 1,2,4, goodput DL 12.00 UL 1.00 Mbps", "dl") is None


def test_the_last_counters_were_read_after_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gnb_files, "_WORKING_FOLDERS", (str(tmp_path).lstrip("/"),))
    counted, ended = 0, threading.Event()

    def write() -> None:
        # What is composed is older when it is written.
        while not ended.is_set():
            text = f"UE c: MAC:    TX {counted:14d} RX              0 bytes\n"
            time.sleep(0.1)
            (tmp_path / gnb_files.NAMES[0]).write_text(text)

    gnb = threading.Thread(target=write)
    (tmp_path / "kept").mkdir()
    files = gnb_files.GnbFiles(os.getpid, tmp_path / "kept")
    gnb.start()
    files.start()
    try:
        for counted in range(1, 9):
            files.wait_for_counters()
            assert files.mac_bytes("dl") == counted
    finally:
        ended.set()
        gnb.join()
        files.finish()


def test_what_was_waited_for_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In lockstep the readings' time ends when the last counters are there, and may be slow."""
    monkeypatch.setattr(gnb_files, "_WORKING_FOLDERS", (str(tmp_path).lstrip("/"),))
    over, ended = threading.Event(), threading.Event()
    versions: dict[int, int] = {}

    def write() -> None:
        while not ended.wait(0.3):
            for name in reversed(gnb_files.NAMES):
                (tmp_path / name).write_text(f"{len(versions)}\n")
            versions[(tmp_path / gnb_files.NAMES[0]).stat().st_mtime_ns] = len(versions)

    def now_ns() -> int | None:
        time.sleep(0.2)
        return None if over.is_set() else time.time_ns()

    gnb = threading.Thread(target=write)
    (tmp_path / "kept").mkdir()
    files = gnb_files.GnbFiles(os.getpid, tmp_path / "kept", now_ns)
    gnb.start()
    files.start()
    try:
        files.wait_for_counters()
        counted_ns = files._counted_ns
        over.set()
    finally:
        ended.set()
        gnb.join()
        files.finish()
    kept = [(tmp_path / "kept" / name).read_text().split()[-1] for name in gnb_files.NAMES]
    assert min(map(int, kept)) >= max(
        version for written_ns, version in versions.items() if written_ns <= counted_ns
    )


def test_a_file_that_the_gnb_has_emptied_is_no_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes the file again at once: what is waited for is not kept before that."""
    monkeypatch.setattr(gnb_files, "_WORKING_FOLDERS", (str(tmp_path).lstrip("/"),))
    (tmp_path / "kept").mkdir()
    files = gnb_files.GnbFiles(os.getpid, tmp_path / "kept")
    name = gnb_files.NAMES[0]
    assert files._look(os.getpid(), name)  # no such file, as in old releases
    for content, whole in (("", True), ("one\n", True), ("", False)):
        (tmp_path / name).write_text(content)
        assert files._look(os.getpid(), name) == whole
        assert files._look(os.getpid(), name) == whole
    assert (tmp_path / "kept" / name).read_text().split()[2:] == ["one"]


def test_frames_give_the_radios_time_over_wraps(tmp_path: Path) -> None:
    log = tmp_path / "gnb-stdout.log"
    clock = FrameClock(log)
    stamp = "2026-11-21T18:13:{:02d}.500000000Z 29742.8 [NR_MAC] I Frame.Slot {}.0\n"
    log.write_text(stamp.format(1, 768) + "UE RNTI 4cba\n" + stamp.format(2, 896))
    first = clock.latest()
    assert first is not None
    assert clock.latest() is None
    with log.open("a") as file:
        file.write(stamp.format(3, 0) + stamp.format(4, 128)[:30])
    second = clock.latest()
    assert second is not None
    assert second[0] - first[0] == pytest.approx(1.28)
    assert second[1] - first[1] == 10**9
    assert time.strftime("%H:%M:%S", time.gmtime(first[1] // 10**9)) == "18:13:02"
