# SPDX-License-Identifier: Apache-2.0
"""rfsim in lockstep: its options, the channel at held slots, and logs in the radio's time.

The radio is a stand-in that answers requests; `nr-link radio` itself is tested in nr-link.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ccu.host import programs
from ccu.host.supervisor import Supervisor
from ccu.scenarios.oai_channel_model import Setting
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import Interrupted, RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ccu.testbeds.oai import configs, plans
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.lockstep import capture_time, channel, cores, radio, turns
from ccu.testbeds.oai.lockstep import run as lockstep_run
from ccu.testbeds.oai.lockstep.channel import HeldChannel
from ccu.testbeds.oai.lockstep.clock import RadioTime
from ccu.testbeds.oai.replay import ChannelLog
from ccu.testbeds.oai.telnet import Softmodem
from ddu.console.problems import RefusedError
from ddu.installation import data
from testsupport.oai.stand_in.modem_telnet import ModemTelnet
from testsupport.waiting import until

START_NS = 10**18
SLOT_NS = 500_000
LOCKSTEP = {"testbed": "rfsim", "lockstep": True, "cc": "cubic"}


class StandIn:
    """A radio that is at each slot as soon as it is asked for, up to `last`."""

    def __init__(self, path: Path, last: int) -> None:
        self.path = path
        self.last = last
        self.met: list[int] = []
        self.slot: int | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def connect(self) -> radio.Client:
        return radio.Client(self.path)

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, client.makefile("rw") as lines:
            for line in lines:
                asked = json.loads(line)
                if asked["request"] == "meet":
                    if asked["slot"] > self.last:
                        return
                    self.met.append(asked["slot"])
                    self.slot = asked["slot"]
                lines.write(json.dumps(self._answer(asked)) + "\n")
                lines.flush()

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["request"] == "free":
            return {"answer": "failed", "reason": "the radio is not held"}
        utc_ns = None if self.slot is None else START_NS + self.slot * SLOT_NS
        return {"answer": "state", "slot": self.slot or 0, "utc_ns": utc_ns}


@pytest.fixture
def modems(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The telnet servers of gNB and UE, by their addresses."""
    names = {
        configs.GNB_ADDRESS: "rfsimu_channel_ue0",
        configs.ue_address(1): "rfsimu_channel_enB0",
    }
    made = {
        address: ModemTelnet("127.0.0.1", 0, "softmodem_gnb> ", [(name, -2.0)])
        for address, name in names.items()
    }

    def connect(address: str, _port: int) -> Softmodem:
        return Softmodem("127.0.0.1", made[address]._listener.getsockname()[1])

    monkeypatch.setattr(channel, "Softmodem", connect)
    yield made
    for one in made.values():
        one.close()


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def test_settings_are_made_at_the_slots_at_which_they_change(
    tmp_path: Path, modems: dict[str, Any]
) -> None:
    one, other = Setting(10.0, 1.0), Setting(10.0, 3.0)
    made = StandIn(tmp_path / "socket", last=1400)
    held = HeldChannel(made, [one, one, other, one, one], tmp_path)  # type: ignore[arg-type]
    held.start()
    # It repeats after five steps of 100 ms, which are 200 slots each.
    until(lambda: made.met == [0, 400, 600, 1400])
    models = [modem.models[0] for modem in modems.values()]
    until(lambda: all(model["noise_power_dB"] == 3.0 for model in models))
    assert held.finish() == []
    for model in models:
        assert (model["noise_power_dB"], model["ploss"]) == (-2.0, 20.0)
    for direction in ("dl", "ul"):
        log = rows(tmp_path / f"channel-{direction}.csv")
        assert [row["noise_db"] for row in log] == ["1.0", "3.0", "1.0", "3.0"]
        times = [int(row["utc_ns"]) - START_NS for row in log]
        assert times == [0, 200_000_000, 300_000_000, 700_000_000]
        assert {row["late_ms"] for row in log} == {"0.0"}


def test_a_radio_that_ends_is_reported(tmp_path: Path, modems: dict[str, Any]) -> None:
    del modems
    made = StandIn(tmp_path / "socket", last=0)
    settings = [Setting(10.0, 1.0), Setting(10.0, 2.0)]
    held = HeldChannel(made, settings, tmp_path)  # type: ignore[arg-type]
    held.start()
    until(lambda: held.failure)
    with pytest.raises(RunFailed, match="nr-link radio has ended"):
        held.check()
    held.finish()
    client = made.connect()
    with pytest.raises(RunFailed, match="the radio is not held"):
        client.ask("free")
    client.close()
    with pytest.raises(RunFailed, match="does not answer"):
        radio.Client(tmp_path / "none")


def test_a_channel_that_cannot_be_logged_fails_the_run(
    tmp_path: Path, modems: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread ends with it, and the channel would stay as it is without a word."""
    del modems

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ChannelLog, "write", full)
    made = StandIn(tmp_path / "socket", last=10**9)
    held = HeldChannel(made, [Setting(10.0, 1.0)], tmp_path)  # type: ignore[arg-type]
    held.start()
    held._thread.join(60)
    with pytest.raises(RunFailed, match="No space left"):
        held.check()
    held.finish()


def test_the_end_does_not_wait_for_a_radio_that_answers_no_more(tmp_path: Path) -> None:
    """Users end a run that hangs by Ctrl-C, which has to end it."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        made = SimpleNamespace(connect=lambda: radio.Client(path))
        radio_time = RadioTime(cast(Any, made), tmp_path)
        radio_time.start()
        asking = threading.Thread(target=radio_time.now_ns, daemon=True)
        asking.start()
        time.sleep(0.7)
        ending = threading.Thread(target=radio_time.finish, daemon=True)
        ending.start()
        for thread in (ending, asking):
            thread.join(60)
            assert not thread.is_alive()


def test_a_signal_ends_the_wait_for_a_radio_that_answers_no_more(tmp_path: Path) -> None:
    """Signals are noted while a run goes on, and do not end a system call."""
    supervisor = Supervisor(cast(Any, None), tmp_path)
    site = SimpleNamespace(resources=SimpleNamespace(run_id="abc"), supervisor=supervisor)
    one = radio.Radio(cast(Any, site))
    one.path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(one.path))
        silent.listen()
        threading.Timer(0.3, supervisor.interrupt, ["SIGINT"]).start()
        with pytest.raises(Interrupted, match="interrupted by SIGINT"):
            one._ask("hold")


def test_a_run_that_fails_ends_everything_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The radio's record of its slots is cut off where the radio broke off."""
    (tmp_path / "oai").mkdir()
    (tmp_path / "oai" / "slots.csv").write_text("utc_ns,entering_wall_utc_ns\n1,")
    ended: list[str] = []
    given: list[Path] = []

    class Part:
        file = tmp_path / "n3.pcap"

        def __init__(self, name: str) -> None:
            self.name = name

        def start(self) -> None: ...

        def now_ns(self) -> None: ...

        def finish(self) -> None:
            ended.append(self.name)

    class Plan:
        def __init__(self, *_: object) -> None: ...

        def prepare(self, unchanged: list[Path], **_: object) -> None:
            given.extend(unchanged)

        def perform(self) -> None:
            raise RunFailed("virtual time", "nr-link has ended")

    for name in ("RadioTime", "GnbFiles", "N3Capture"):
        monkeypatch.setattr(lockstep_run, name, lambda *_, name=name: Part(name))
    monkeypatch.setattr(lockstep_run, "Run", Plan)
    coupled_type = lockstep_run._Coupled
    monkeypatch.setattr(coupled_type, "_prepare_tunnel", lambda _: None)
    experiment = resolve(LOCKSTEP | {"capture_n3": True, "core": "oai"})
    site = SimpleNamespace(raw=tmp_path, experiment=experiment)
    stack = SimpleNamespace(
        plan=SimpleNamespace(on_samples=True, ue_numbers=[1]),
        in_networks=nullcontext,
        check_radio=lambda _: None,
        gnb_pid=lambda: None,
    )
    held = SimpleNamespace(path=tmp_path, hold=lambda _: {})
    coupled = coupled_type(cast(Any, site), [], cast(Any, stack), cast(Any, held))
    with pytest.raises(RunFailed, match="nr-link has ended"):
        coupled.perform()
    assert sorted(ended) == ["GnbFiles", "N3Capture", "RadioTime"]
    # What root writes beside the kernel, in which programs of a user may run.
    assert given == [tmp_path / "oai", tmp_path / "n3.pcap"]


def test_logs_get_the_radios_time(tmp_path: Path) -> None:
    made = StandIn(tmp_path / "socket", last=10**9)
    radio_time = RadioTime(made, tmp_path)  # type: ignore[arg-type]
    assert radio_time.now_ns() is None  # before the hosts begin
    made.slot = 2000
    assert radio_time.now_ns() == START_NS + 10**9
    radio_time.start()

    def has_read_twice() -> bool:
        made.slot += 10
        return len(rows(tmp_path / "wall-time.csv")) >= 2

    until(has_read_twice)
    radio_time.finish()
    paces = [float(row["real_time_ratio"]) for row in rows(tmp_path / "radio-time.csv")]
    assert paces
    readings = [
        (int(row["utc_ns"]), int(row["wall_utc_ns"])) for row in rows(tmp_path / "wall-time.csv")
    ]
    (from_ns, from_wall_ns), (to_ns, to_wall_ns) = readings[0], readings[1]
    assert (to_ns - from_ns) / (to_wall_ns - from_wall_ns) == pytest.approx(paces[0], rel=0.1)
    halfway_ns = (from_wall_ns + to_wall_ns) // 2
    log = tmp_path / "gnb-stdout.log"

    def stamped(wall_ns: int) -> str:
        seconds, nanoseconds = divmod(wall_ns, 10**9)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds:09d}Z"

    lines = [f"{stamped(at)} a line" for at in (from_wall_ns - 10**9, halfway_ns)]
    log.write_text("\n".join([*lines, "without a stamp", ""]))
    radio_time.restamp(log)
    before, between, other = log.read_text().splitlines()
    assert before == f"{stamped(from_ns - 10**9)} a line"
    (nanoseconds,) = re.findall(r"\.(\d{9})Z a line", between)
    assert abs(int(nanoseconds) - (from_ns + to_ns) // 2 % 10**9) < 1000
    assert other == "without a stamp"


def test_the_ue_connects_to_the_radios_program() -> None:
    experiment = resolve(LOCKSTEP)
    driver = driver_of(experiment)
    assert driver.own_kernel
    assert driver.whole_run() is not None
    assert not driver.radio_time_varies(experiment)
    assert not driver_of(resolve({"testbed": "rfsim", "cc": "cubic"})).own_kernel
    plan = plans.plan_of(experiment)
    files = configs.rendered(plan)
    assert f'serveraddr = "{configs.HOST_ADDRESS}"' in files["ue1.conf"]
    assert f"serveraddr {configs.HOST_ADDRESS} " in configs.ue_options(plan, 1)


class Containers:
    """Each service's first process is this one, and nothing else runs."""

    def __init__(self, *services: str) -> None:
        self.services = services

    def pid(self, service: str) -> int | None:
        return os.getpid() if service in self.services else None


@pytest.mark.parametrize(
    ("core", "ues", "services"),
    [
        ("none", 1, ("gnb", "ue1")),
        ("oai", 3, ("upf", "gnb", "ue1", "ue2", "ue3")),
        ("open5gs", 1, ("open5gs-upf", "gnb", "ue1")),
    ],
)
def test_all_containers_that_carry_packets_are_watched(
    core: configs.Core, ues: int, services: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    class Held:
        def ask(self, _request: str, _check: object, **content: Any) -> dict[str, Any]:
            asked.append(content)
            return {}

        def close(self) -> None: ...

    plan = configs.Plan("2026.w11", carrier(24), ues, core=core)
    stack = SimpleNamespace(
        plan=plan,
        runtime=Containers(*services),
        namespace_of=lambda service: service,
        ue_address=lambda number: f"12.1.1.{1 + number}",
    )
    supervisor = SimpleNamespace(check_interrupt=lambda: None)
    site = SimpleNamespace(resources=SimpleNamespace(run_id="abc"), supervisor=supervisor)
    one = radio.Radio(cast(Any, site))
    monkeypatch.setattr(one, "connect", Held)
    preferred: list[int] = []
    monkeypatch.setattr(turns, "prefer", preferred.extend)
    one.attach(cast(Any, stack))
    one.hold(cast(Any, stack))
    attaching, held = asked
    assert attaching["processes"] == [os.getpid()] * (1 + ues)
    assert held["processes"] == [os.getpid()] * len(services)
    assert [one["address"] for one in held["ues"]] == [f"12.1.1.{2 + ue}" for ue in range(ues)]
    assert preferred == attaching["processes"] + held["processes"]


def test_more_ues_than_the_cores_carry_are_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    cores.check(resolve(LOCKSTEP | {"ues": 2}))
    three = resolve(LOCKSTEP | {"ues": 3})
    with pytest.raises(RefusedError) as refused:
        driver_of(three).check_machine(three)
    assert str(refused.value) == (
        "ues: 3 UEs in lockstep need 2 cores, and ccu may use 1. Choose at most 2 UEs, or write"
        " --no-lockstep"
    )


def test_what_was_captured_on_n3_gets_the_radios_time(tmp_path: Path) -> None:
    slots = tmp_path / "slots.csv"
    slots.write_text(
        "utc_ns,entering_wall_utc_ns,begun_wall_utc_ns,ended_wall_utc_ns\n"
        f"{START_NS},100,200,300\n{START_NS + SLOT_NS},310,320,400\n"
    )
    capture = tmp_path / "n3.pcap"
    header = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 276)
    # Before the first slot; entering it and coming out of it; the same of the second; after it.
    walls = [99, 100, 250, 305, 315, 399, 401]
    packets = [struct.pack("=IIII4s", 0, at, 4, 9, f"{at:04}".encode()) for at in walls]
    # tcpdump was killed while it wrote one that would be kept.
    capture.write_bytes(header + b"".join(packets) + packets[1][:-1])
    assert capture_time.restamp(capture, capture_time.read_slots(slots).radio_ns) == 5
    content = capture.read_bytes()
    assert content[:24] == header
    kept = list(struct.iter_unpack("=IIII4s", content[24:]))
    ends = [0, 1, 1, 1, 2]
    assert [(seconds * 10**9 + rest - START_NS) / SLOT_NS for seconds, rest, *_ in kept] == ends
    assert [one[2:] for one in kept] == [(4, 9, f"{at:04}".encode()) for at in walls[1:-1]]


@pytest.mark.parametrize(
    "content", [b"", b"\xd4\xc3\xb2\xa1", b"no capture, and longer than a header"]
)
def test_what_is_no_capture_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "n3.pcap"
    file.write_bytes(content)
    assert capture_time.restamp(file, lambda wall_ns: wall_ns) == 0
    assert file.read_bytes() == content


def test_blocks_from_before_and_after_the_slots_stay_with_the_radios_time(tmp_path: Path) -> None:
    slots = capture_time.Slots([1_000_000, 3_000_000, 9_000_000], [START_NS, START_NS + SLOT_NS])
    capture = tmp_path / "mac.pcap"
    # Of OpenAirInterface: in µs.
    header = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 228)
    walls_us = [400, 1_000, 2_999, 3_000, 8_999, 9_700]
    packets = [struct.pack("=IIII5s", 0, at, 5, 5, f"{at:05}".encode()) for at in walls_us]
    capture.write_bytes(header + b"".join(packets))
    assert capture_time.restamp(capture, slots.passing_ns) == len(walls_us)
    content = capture.read_bytes()
    assert content[:24] == header
    kept = list(struct.iter_unpack("=IIII5s", content[24:]))
    times_us = [(seconds * 10**9 + us * 1000 - START_NS) // 1000 for seconds, us, *_ in kept]
    assert times_us == [-600, 0, 0, 500, 500, 1200]
    assert [one[2:] for one in kept] == [(5, 5, f"{at:05}".encode()) for at in walls_us]


def test_a_run_from_before_the_channel_on_samples_is_repeated_with_its_flat_channel() -> None:
    record = resolve(LOCKSTEP).record()
    assert record["oai"]["channel"] is None
    assert plans.plan_of(Experiment.from_record(record)).on_samples
    del record["oai"]["channel"]
    assert not plans.plan_of(Experiment.from_record(record)).on_samples


def test_who_takes_turns_goes_first() -> None:
    script = ["sh", "-c", "sleep 60 & echo; wait"]

    def start() -> subprocess.Popen[bytes]:
        made = subprocess.Popen(script, stdout=subprocess.PIPE, start_new_session=True)
        assert made.stdout is not None
        made.stdout.readline()
        return made

    with turns.first():
        inside = start()
    outside = start()
    try:
        niceness = [os.getpriority(os.PRIO_PROCESS, one.pid) for one in (inside, outside)]
        if niceness[0] == niceness[1]:
            pytest.skip("needs the right to raise priorities")
        with turns.first():
            turns.prefer([outside.pid])
        (child,) = Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text().split()
        watched = (inside.pid, outside.pid, int(child))
        assert [os.getpriority(os.PRIO_PROCESS, one) for one in watched] == [-10] * 3
    finally:
        for process in (inside, outside):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def test_who_was_started_with_nice_keeps_it() -> None:
    code = (
        "import os, subprocess\n"
        "from ccu.testbeds.oai.lockstep import turns\n"
        "sleeper = subprocess.Popen(['sleep', '60'])\n"
        "os.setpriority(os.PRIO_PROCESS, sleeper.pid, 0)\n"
        "with turns.first():\n"
        "    turns.prefer([sleeper.pid])\n"
        "    print(os.getpriority(0, 0), os.getpriority(0, sleeper.pid))\n"
        "sleeper.kill()\n"
    )
    before = os.getpriority(os.PRIO_PROCESS, 0)
    if os.geteuid() or before > 0:
        pytest.skip("needs the right to raise priorities")
    ran = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=lambda: os.nice(7), capture_output=True, text=True
    )
    assert ran.stdout.split() == [str(before + 7)] * 2, ran.stderr


@pytest.mark.parametrize(("channel", "models"), [(None, False), ("samples", False), ("flat", True)])
def test_only_one_channel_is_in_effect(
    channel: str | None, models: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    experiment = resolve(LOCKSTEP | {"channel": channel, "scenario": "rome-moderate", "prb": 24})
    plan = plans.plan_of(experiment)
    for words in (configs.gnb_options(plan), configs.ue_options(plan, 1)):
        assert ("chanmod" in words.split()) is models
    monkeypatch.setattr(programs, "require", lambda name: name)
    (tmp_path / "oai").mkdir()
    commands: list[list[str]] = []
    site: Any = SimpleNamespace(
        experiment=experiment,
        raw=tmp_path,
        scenario=data("ccu", "scenarios") / "rome-moderate.yaml",
        resources=SimpleNamespace(run_id="r", register=lambda _: None),
        supervisor=SimpleNamespace(
            start=lambda _name, command, **_: commands.append(command),
            wait_ready_event=lambda _: None,
        ),
    )
    radio.Radio(site).start(plan)
    assert ("--channel" in commands[0]) is not models
    assert ("1x1" in commands[0]) is not models
    assert (tmp_path / "link.yaml").exists() is not models


def test_energy_after_the_cyclic_prefix_is_stated() -> None:
    assert lockstep_run._late_energy(None) == []
    assert lockstep_run._late_energy(0.0009) == []
    (sentence,) = lockstep_run._late_energy(0.012)
    assert sentence.startswith("1.2% of the channel's energy comes later than the cyclic prefix")


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"ues": 5}, "in lockstep there are at most 4 UEs"),
        ({"ues": 2, "channel": "flat"}, "one for all UEs in lockstep"),
        (
            {"channel": "flat", "uplink_target_db": 20},
            "--uplink-target-db: only a channel on the samples",
        ),
        ({"channel": "flat", "antennas": "2x2"}, "--antennas: only a channel on the samples"),
        ({"capture_n3": True, "core": "none"}, "there is no N3 to capture"),
        ({"testbed": "usrp", "usrp": "b210"}, "a USRP keeps real time"),
        (
            {"testbed": "usrp", "usrp": "b210", "lockstep": False, "antennas": "2x2"},
            "--antennas: only a channel on the samples",
        ),
    ],
)
def test_what_cannot_be_in_lockstep_is_refused(more: dict[str, Any], rule: str) -> None:
    with pytest.raises(RefusedError, match=rule):
        plans.plan_of(resolve(LOCKSTEP | more))
