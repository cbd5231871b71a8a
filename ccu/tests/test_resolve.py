# SPDX-License-Identifier: Apache-2.0
"""Experiments resolved from flags and files: one value, or a list of all problems."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccu import scenarios
from ccu.scenarios.link_config import check, link_config
from ccu.scenarios.nr_link import queue_managers
from ccu.scenarios.resolve import resolve
from ccu.spec import units
from ccu.traffic import plan
from ddu.console.problems import RefusedError


@given(st.integers(min_value=1, max_value=10**6))
def test_a_duration_is_the_same_in_any_unit(ms: int) -> None:
    assert units.seconds(f"{ms}ms") == units.seconds(f"{ms / 1000!r}s") == ms / 1000


@pytest.mark.parametrize("text", ["30", "30 parsecs", "", "nans", "s"])
def test_a_duration_needs_a_number_and_a_unit(text: str) -> None:
    with pytest.raises(ValueError, match="Write for example 30s"):
        units.seconds(text)


def test_flags_win_over_the_file_and_errors_name_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("cc: cubic\nprb: 24\nrtt: 40ms\n")
    resolved = resolve({"prb": 106}, file)
    assert (resolved.prb, resolved.rtt_ms, resolved.cc) == (106, 40.0, "cubic")
    file.write_text("cc: cubic\nduration: -3s\nprbs: 24\n")
    with pytest.raises(RefusedError, match=rf"(?s){file}:2: duration.*{file}:3: prbs: unknown key"):
        resolve({}, file)


def test_one_setting_has_one_value_however_it_is_spelt(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("cc: cubic\nrtt_ms: 20\n")
    assert resolve({}, file).rtt_ms == 20
    assert resolve({"rtt": "70ms"}, file).rtt_ms == 70
    file.write_text("cc: cubic\nrtt: 50ms\nrtt_ms: 20\n")
    with pytest.raises(RefusedError, match=r"e.yaml:2: rtt: is given as rtt_ms too"):
        resolve({}, file)


def test_udp_flows_have_no_congestion_control() -> None:
    assert [flow.cc for flow in resolve({"traffic": "udp:10M", "ues": 2}).flows] == ["udp"] * 2
    named = resolve({"traffic": "udp:10M", "flows": "udp@0,udp@1"})
    assert [flow.cc for flow in named.flows] == ["udp"] * 2
    with pytest.raises(RefusedError, match=r"flows: the traffic has no such congestion control"):
        resolve({"traffic": "udp:10M", "flows": "cubic@0,reno@1"})


def test_a_flow_may_not_start_after_the_end() -> None:
    with pytest.raises(RefusedError, match=r"is over\. Start it earlier"):
        resolve({"flows": "cubic@0,reno@30"})


def test_a_queue_is_managed_as_asked_and_only_a_managed_one_marks() -> None:
    asked = resolve({"cc": "cubic", "aqm": "codel", "ecn": True})
    queue = link_config(asked, "a", "b")["queue"]
    assert queue["dl"] == {"packets": 3200, "aqm": {"codel": {"ecn": True}}} == queue["ul"]
    assert "aqm" not in link_config(resolve({"cc": "cubic"}), "a", "b")["queue"]["dl"]
    with pytest.raises(RefusedError, match="marks nothing"):
        resolve({"cc": "cubic", "ecn": True})
    for aqm in queue_managers():
        experiment = resolve({"cc": "cubic", "aqm": aqm})
        assert link_config(experiment, "a", "b")["queue"]["ul"]["aqm"] == {aqm: {}}
        check(experiment, scenarios.locate("static"))
    unknown = resolve({"cc": "cubic", "aqm": "red"})
    with pytest.raises(
        RefusedError, match=r'aqm: unknown value "red"\. Choose one of: .*dualpi2, step'
    ):
        check(unknown, scenarios.locate("static"))
    with pytest.raises(RefusedError, match="Leave it out"):
        resolve({"cc": "cubic", "aqm": "pie", "testbed": "rfsim"})


def test_a_slow_return_path_is_reported_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("cc: cubic\npath: {ul: {rate_mbps: 20, queue: {packets: 100}}}\n")
    path = link_config(resolve({}, file), "a", "b")["path"]
    assert path["ul"]["rate_mbps"] == 20
    assert path["ul"]["queue"] == {"packets": 100}
    assert path["dl"] == {"delay_ms": 10.0, "loss_ratio": 0.0}
    file.write_text("cc: cubic\npath: {ul: {rate_mbps: -1}}\n")
    with pytest.raises(RefusedError, match=rf"{file}:2: path.ul.rate_mbps: -1 is not more than 0"):
        resolve({}, file)


def test_each_ue_has_a_flow_and_a_flow_may_choose_its_ue() -> None:
    three = resolve({"cc": "cubic", "ues": 3})
    assert [flow.ue for flow in plan(three)] == [1, 2, 3]
    devices = link_config(three, "core", "hosts")["devices"]["ue"]
    assert [device["name"] for device in devices] == ["ue1", "ue2", "ue3"]
    assert len({address for device in devices for address in device["addresses"]}) == 3
    chosen = resolve({"ues": 2, "flows": [{"cc": "reno", "ue": 2}, {"cc": "cubic"}]})
    assert [flow.ue for flow in plan(chosen)] == [2, 2]
    with pytest.raises(RefusedError, match="UE 3 of 2"):
        resolve({"ues": 2, "flows": [{"cc": "reno", "ue": 3}]})
    with pytest.raises(RefusedError, match="--ues"):
        resolve({"cc": "cubic", "ues": 99})
    udp = resolve({"traffic": "udp:20M", "ues": 2})
    assert [flow.ue for flow in plan(udp)] == [1, 2]
    over_rfsim = resolve({"cc": "cubic", "ues": 2, "testbed": "rfsim"})
    assert [flow.ue for flow in plan(over_rfsim)] == [1, 2]


@pytest.mark.parametrize(
    "flags",
    [
        {"cc": "reminis"},
        {"cc": "cubic", "buffer": "2.5MB", "loss": "1%", "rtt": "80ms"},
        {"traffic": "udp:20M", "direction": "ul"},
        {"cc": "cubic", "traffic": "tcp:1.5GB"},
        {"flows": "cubic@0,reno@5", "duration": "20s", "scenario": "congested-reverse"},
        {"cc": "cubic", "ues": 3},
        {"cc": "cubic", "testbed": "rfsim", "runtime": "lxc", "ues": 2},
        {"testbed": "phone", "direction": "ul", "max_bytes": "300MB", "adb": False},
    ],
)
def test_a_resolved_experiment_is_a_valid_file_on_another_machine(
    tmp_path: Path, flags: dict[str, object]
) -> None:
    experiment = resolve(flags)
    sent = tmp_path / "experiment.yaml"
    sent.write_text(experiment.model_dump_json())
    assert resolve({}, sent) == experiment


def test_a_volume_is_bytes_and_only_tcp_has_one(tmp_path: Path) -> None:
    assert resolve({"cc": "cubic", "traffic": "tcp:1.5GB"}).traffic.volume_bytes == 1_500_000_000
    with pytest.raises(RefusedError, match="tcp:1GB"):
        resolve({"cc": "cubic", "traffic": "tcp:40M"})
    file = tmp_path / "run.yaml"
    file.write_text("traffic: {kind: udp, rate_bps: 1e6, volume_bytes: 5}\n")
    with pytest.raises(RefusedError, match="the traffic udp has no volume_bytes"):
        resolve({}, file)


def test_only_the_mistake_in_traffic_is_reported() -> None:
    with pytest.raises(RefusedError) as refused:
        resolve({"traffic": "udp:200"})
    assert "--cc" not in str(refused.value)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"loss": "1.5"}, "--loss: '1.5' is not between 0 and 1. Write for example 0.01 or 1%"),
        ({"loss": "nan"}, "--loss: 'nan' is not between 0 and 1. Write for example 0.01 or 1%"),
        ({"loss": "-1%"}, "--loss: '-1%' is not between 0 and 1. Write for example 0.01 or 1%"),
        ({"testbed": "usrp"}, "--usrp: --testbed usrp needs --usrp, and rfsim has none. "
         "Write b210 or x310:addr=A+addr=B (docs/oai.md)"),
        ({"testbed": "phone", "rtt": "9ms"}, "--rtt: an operator's network cannot be configured. "
         "Leave it out with --testbed phone"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_line_under_its_own_name(flags: dict[str, str], expected: str) -> None:
    with pytest.raises(RefusedError) as refused:
        resolve({"cc": "cubic", **flags})
    assert str(refused.value) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("ecn: true\n", ":2: ecn: a drop-tail queue marks nothing. Add --aqm"),
        (
            "path: {dl: {rate_mbs: 3}}\n",
            ":2: path.dl.rate_mbs: unknown key. Did you mean rate_mbps",
        ),
        (
            "duplex: {tdd: {patern: DU}}\n",
            ":2: duplex.tdd.patern: unknown key. Did you mean pattern",
        ),
        ("mcs_table: 256-qam\n", "Did you mean 256qam?"),
    ],
)
def test_a_wrong_key_is_reported_with_its_line_and_similar_keys(
    tmp_path: Path, lines: str, expected: str
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(f"cc: cubic\n{lines}")
    with pytest.raises(RefusedError) as refused:
        resolve({}, file)
    assert str(refused.value).startswith(f"{file}:2")
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flows: []\n", "1: flows: Tuple should have at least 1 item"),
        ("cc: [cubic]\n", "1: cc: \"['cubic']\" is not a valid name of a congestion control"),
        ("cc: cubic\nduplex: tdd\n", "2: duplex: 'tdd' is not fdd. Write fdd, or a TDD"),
        ("cc: cubic\npath: 3\n", "2: path: is not a mapping of dl, ul (it is 3)"),
        ("cc: cubic\nues: 400\n", "2: ues: 400 is more than 64"),
        ("cc: cubic\n3: 4\n", "2: 3: a key must be a word"),
        ("flows: ','\n", "1: flows: '' is not a flow. Write CC@SECONDS"),
        ("cc: cubic\ntestbed: rfsim\nruntime: podman\n", "3: runtime: 'podman' is not 'docker'"),
    ],
)
def test_one_mistake_in_a_file_is_one_line(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(text)
    with pytest.raises(RefusedError) as refused:
        resolve({}, file)
    assert str(refused.value).startswith(f"{file}:{expected}")
    assert "\n" not in str(refused.value)


def test_a_key_merged_by_yaml_has_a_place(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text("cc: cubic\n<<: {prb: 24, ues: 400}\n")
    with pytest.raises(RefusedError, match=f"{file}:1: ues: 400 is more than 64"):
        resolve({}, file)


@pytest.mark.parametrize("text", ["1%,2%", "0.5%dl", "1%5", "%", "1%%"])
def test_a_loss_is_one_number(text: str) -> None:
    with pytest.raises(ValueError, match="is not a ratio or percentage"):
        units.loss(text)


@pytest.mark.parametrize("ues", ["2", "'2'", "2.0"])
def test_each_ue_has_a_flow_however_their_number_is_written(tmp_path: Path, ues: str) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(f"cc: cubic\nues: {ues}\n")
    assert len(resolve({}, file).flows) == 2
