# SPDX-License-Identifier: Apache-2.0
"""The phone's parts that need neither phone nor network."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccu.runs.manifest import Manifest, experiment_of
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds.phone import clock, polling, remote_server
from ccu.testbeds.phone.address import Address, host_and_port, plain, reached
from ccu.testbeds.phone.clock import Offset, bounds, common
from ccu.testbeds.phone.radio_log import crossed_bytes, script
from ccu.testbeds.phone.remote_server import RemoteServer
from ccu.testbeds.phone.survey import MOBILE
from ccu.testbeds.phone.traffic_driver import PHONE
from ccu.traffic import plan
from ddu.console.problems import RefusedError
from ddu.run.manifest import read_manifest

T0 = 1_795_257_315_000_000_000
UNUSED: Any = None
DELAYS = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9))


@given(st.integers(-(10**12), 10**12), st.lists(DELAYS, min_size=1, max_size=20))
def test_the_true_offset_is_within_the_bounds(
    offset_ns: int, delays: list[tuple[int, int]]
) -> None:
    answers = []
    asked_ns = T0
    for forth_ns, back_ns in delays:
        answer = asked_ns + forth_ns + offset_ns
        stamp = f"{answer // 10**9}.{answer % 10**9:09d}\n"
        one = bounds(asked_ns, stamp, asked_ns + forth_ns + back_ns)
        assert one is not None
        answers.append(one)
        asked_ns += forth_ns + back_ns + 1
    offset = common(answers)
    assert offset is not None
    assert abs(offset.ns - offset_ns) <= offset.uncertainty_ns
    # The uncertainty is at most that of the fastest query.
    assert offset.uncertainty_ns <= min(forth + back for forth, back in delays) // 2 + 1


@pytest.mark.parametrize("answer", ["", "date: bad format\n", "1795257315.12\n", "12.000000000\n"])
def test_an_invalid_time_gives_no_bounds(answer: str) -> None:
    assert bounds(T0, answer, T0 + 1) is None


def test_a_clock_of_whole_seconds_has_an_uncertainty_of_a_second() -> None:
    offset = bounds(T0 + 400, "1795257315\n", T0 + 500)
    assert offset == Offset(-500, 10**9 - 400)


def test_disjoint_measurements_have_no_intersection() -> None:
    assert common([Offset(0, 10), Offset(20, 30)]) is None


@pytest.mark.parametrize("name", ["rmnet_data1", "ccmni0", "wwan0", "v4-rmnet_data2", "clat4"])
def test_interfaces_of_modems(name: str) -> None:
    assert MOBILE.match(name)


@pytest.mark.parametrize("name", ["wlan0", "tun0", "rndis0", "eth0", "v4-wlan0", "lo"])
def test_interfaces_of_others(name: str) -> None:
    assert not MOBILE.match(name)


def test_bytes_that_crossed(tmp_path: Path) -> None:
    file = tmp_path / "radio.txt"
    proc = "## net\nrmnet0: {} 9 0 0 0 0 0 0 {} 5 0 0 0 0 0 0\n"
    file.write_text(proc.format(1000, 50) + proc.format(9000, 80))
    assert crossed_bytes(file, "dl") == 8000
    assert crossed_bytes(file, "ul") == 30
    file.write_text("## net\n RX bytes:5 TX bytes:7\n## net\n RX bytes:105 TX bytes:8\n")
    assert crossed_bytes(file, "dl") == 100
    file.write_text("## net\n")
    assert crossed_bytes(file, "dl") is None
    file.write_text(proc.format(9000, 50) + proc.format(10, 80) + proc.format(900, 90))
    assert crossed_bytes(file, "dl") is None  # The counter began again.
    assert crossed_bytes(file, "ul") == 40


def test_of_interfaces_with_like_names_one_is_counted(tmp_path: Path) -> None:
    names = ("v4-rmnet_data1", "rmnet_data1", "r_rmnet_data1", "rmnet_data10")
    file = tmp_path / "dev"
    file.write_text("".join(f"  {name}: 1 0\n" for name in names))
    (wanted,) = re.findall(r"(grep -E \S+ \S+) /proc/net/dev", script("rmnet_data1"))
    read = subprocess.run(["sh", "-c", f"{wanted} {file}"], capture_output=True, text=True)
    assert read.stdout == "  rmnet_data1: 1 0\n"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("phone", ("phone", 8022)),
        ("phone:22", ("phone", 22)),
        ("192.0.2.7:22", ("192.0.2.7", 22)),
        ("2001:DB8::0007", ("2001:db8::7", 8022)),
        ("[2001:db8::7]", ("2001:db8::7", 8022)),
        ("[2001:db8::7]:22", ("2001:db8::7", 22)),
    ],
)
def test_hosts_and_ports(written: str, address: tuple[str, int]) -> None:
    assert host_and_port(written, 8022) == address


@pytest.mark.parametrize("written", ["", ":22", "phone:", "phone:ssh", "phone:70000", "[]:22"])
def test_an_invalid_host_and_port_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"has no host|is not a port"):
        host_and_port(written, 8022)


def test_addresses_in_the_notations_of_users_and_sockets() -> None:
    assert plain("[2001:DB8:0::1]") == "2001:db8::1"
    assert plain("::ffff:192.0.2.1") == "192.0.2.1"
    assert plain("server.example") == "server.example"


@pytest.mark.parametrize(
    ("written", "for_ssh"),
    [
        ("server.example", "server.example"),
        ("root@2001:db8::1", "root@2001:db8::1"),
        ("root@[2001:db8::1]", "root@2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("ssh://root@[2001:db8::1]:2222", "ssh://root@[2001:db8::1]:2222"),
    ],
)
def test_a_remote_server_by_its_address(
    monkeypatch: pytest.MonkeyPatch, written: str, for_ssh: str
) -> None:
    monkeypatch.setenv("CCU_SSH", "ssh")
    assert RemoteServer(written).command("true")[-2:] == [for_ssh, "true"]


def test_the_address_that_the_phone_has_a_route_to() -> None:
    four, six = Address("192.0.2.1", "192.0.2.1", "eth0"), Address("2001:db8::1", "::", "eth0")

    def way_to(address: str) -> str:
        if ":" not in address:
            raise RefusedError(f"no way to {address}")
        return "rmnet0"

    assert reached([four, six], way_to) == (six, "rmnet0")
    with pytest.raises(RefusedError, match=r"192\.0\.2\.1"):
        reached([four], way_to)


def stat(ticks: int) -> str:
    return f"700 (system_server) S 1 1 0 0 -1 4 5 0 0 0 {ticks - 5} 5 0 0 20 0 1 0 9 0 0\n"


def test_the_cost_of_the_log() -> None:
    """In an idle second the service takes 20 ticks; in the next, with eight readings, 100: 80 more,
    so 0.1 s per reading. Two readings per second on eight processors: 2.5 %."""
    log = (
        "### 1000.0\n## registry\nx\n## polling\nticks 100 cpus 8\n"
        f"at 1000.0\n{stat(500)}at 1001.0\n{stat(520)}at 1002.0\n{stat(620)}"
    )
    for half in range(21):
        log += f"### {1002 + half / 2}\n## registry\nx\n## net\ny\n"
        if half % 10 == 0:
            log += f"## cpu\n0m0.{half:02d}s 0m0.00s\n0m0.{half:02d}s 0m0.{half * 2:02d}s\n"
            log += f"## services\n{stat(700 + half)}"
    cost = polling.cost(log)
    assert cost["processors"] == 8
    assert cost["readings_per_s"] == pytest.approx(2)
    assert cost["services_ratio"] == pytest.approx(0.1 * 2 / 8)
    # 0.8 s in 10 s, on eight processors
    assert cost["own_ratio"] == pytest.approx(0.8 / 10 / 8)
    assert polling.problems(cost) == []
    (answer,) = polling.problems(cost | {"services_ratio": 0.045})
    assert "5.5%" in answer


@pytest.mark.parametrize("log", ["", "### 1.0\n## net\n", "## polling\nticks 100 cpus 8\nat 1.0\n"])
def test_a_log_without_its_cost(log: str) -> None:
    cost = polling.cost(log)
    assert cost["services_ratio"] is None
    assert cost["own_ratio"] is None


def phone(**more: object) -> Experiment:
    return resolve({"testbed": "phone", "cc": "cubic", **more})


def test_flows_in_each_direction_have_ports_of_their_own() -> None:
    flows = plan(phone(direction="bidir", server_port=6000))
    known = [(flow.direction, flow.port, flow.cc) for flow in flows]
    assert known == [("dl", 6000, "cubic"), ("ul", 6001, "phone")]


@pytest.mark.parametrize(("address", "words"), [("192.0.2.1", "forward"), ("2001:db8::1", "IPv6")])
def test_a_phone_that_cannot_connect(address: str, words: str) -> None:
    (flow,) = plan(phone())
    flow.events, flow.reached_at = Path("/dev/null"), address
    with pytest.raises(RunFailed, match=f"{address} port 5201. Open TCP port 5201 .*{words}"):
        PHONE.look(UNUSED, UNUSED, flow, time.monotonic() - 60)


def test_an_uplink_needs_no_name() -> None:
    experiment = resolve({"testbed": "phone", "direction": "ul"})
    assert experiment.cc == "phone"
    assert experiment.servers_ccs == ()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"testbed": "phone", "prb": 106}, "operator's network"),
        ({"testbed": "phone", "traffic": "udp:1M"}, "Leave it out"),
        ({"testbed": "phone", "flows": "udp:5M@0"}, "flows: a phone's traffic is TCP"),
        ({"testbed": "phone", "direction": "ul"}, "Leave it out, or write phone"),
        ({"testbed": "phone", "max_bytes": "lots"}, "500MB"),
        ({"testbed": "phone", "server_port": 80}, "1024"),
        ({"place": "bridge"}, "Add --testbed phone"),
    ],
)
def test_refused_experiments(flags: dict[str, object], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        resolve({"cc": "cubic", **flags})


def test_a_manifest_has_no_fields_of_an_unknown_link(tmp_path: Path) -> None:
    experiment = phone(place="bridge")
    manifest = Manifest(tmp_path, experiment)
    manifest.write()
    recorded = manifest.content["experiment"]
    assert recorded["prb"] is None
    assert recorded["rtt_ms"] is None
    assert recorded["phone"]["place"] == "bridge"
    assert experiment_of(tmp_path) == experiment


def test_a_manifest_that_no_analysis_could_read_is_not_written(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path, phone(place="bridge"))
    manifest.write()
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(RefusedError, match=r"run\.json: flows\.0\.sender: Field required"):
        manifest.write(flows=[{"id": "f0", "cc": "cubic", "direction": "dl"}])
    assert (tmp_path / "run.json").read_bytes() == before
    manifest.write(status="failed")  # As it is recorded what went wrong.
    assert read_manifest(tmp_path).status == "failed"


def far(folder: Path, script: str) -> Path:
    """Make a stand-in for ssh that runs a script in place of each command."""
    program = folder / "ssh"
    program.write_text(f"#!/bin/sh\nfor last; do :; done\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('eval "$last"; exit 255', "the connection ended"),
        ('eval "$last" | head -c 600', "the connection ended"),
        ('eval "$last" | head -c 6000', "tar: "),
    ],
)
def test_a_copy_that_is_not_whole_leaves_the_run_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setenv("CCU_SSH", str(far(tmp_path, script)))
    there, output = tmp_path / "there", tmp_path / "here"
    (there / "runs" / "2026-run").mkdir(parents=True)
    (there / "runs" / "2026-run" / "run.json").write_text("{}" * 5000)
    with pytest.raises(RunFailed, match=words) as refused:
        remote_server._fetch(RemoteServer("far"), str(there), output)
    assert f"it is on far in {there}/runs" in str(refused.value)
    assert not list(output.iterdir())
    monkeypatch.setenv("CCU_SSH", str(far(tmp_path, 'eval "$last"')))
    assert remote_server._fetch(RemoteServer("far"), str(there), output) == output / "2026-run"
    assert remote_server._fetch(RemoteServer("far"), str(tmp_path / "none"), output) is None


def test_a_phone_that_no_longer_answers_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent:
        serial = "x"

        def command(self, _script: str) -> list[str]:
            return ["sleep", "60"]

    monkeypatch.setattr(clock, "_PATIENCE_S", 0.1)
    with pytest.raises(RunFailed, match="does not report its time"):
        clock.measure(Silent())  # type: ignore[arg-type]
