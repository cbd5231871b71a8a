# SPDX-License-Identifier: Apache-2.0
"""The settings of path and link that a scenario fixes, and their precedence."""

from pathlib import Path

import pytest
import yaml

from ccu import scenarios
from ccu.cli.run import resolved
from ccu.scenarios.link_config import copy_scenario, link_config
from ccu.scenarios.resolve import resolve
from ccu.spec import radio
from ccu.spec.path import Buffer
from ddu.console.problems import RefusedError

HEAD = "schema: rf-scenario/1\nname: x\nsummary: x\nsources: [x]\nlicense: CC0-1.0\nduration_s: 9\n"
CAPACITY = "capacity: {dl: {constant_mbps: 9}, ul: {constant_mbps: 9}}\n"


@pytest.fixture
def uneven(tmp_path: Path) -> Path:
    file = tmp_path / "uneven.yaml"
    file.write_text(
        f"{HEAD}{CAPACITY}path:\n  mtu_bytes: 9000\n  dl: {{delay_ms: 130.1, loss_ratio: 0.01}}\n"
        "  ul: {delay_ms: 129.9}\n  queue: {dl: {bytes: 250000}, ul: {packets: 80}}\n"
    )
    return file


def test_the_scenario_sets_what_the_user_does_not(uneven: Path) -> None:
    resolved = resolve({"cc": "cubic", "scenario": str(uneven)})
    assert (resolved.rtt_ms, resolved.mss_bytes) == (260.0, 8960)
    config = link_config(resolved, "core", "ue")
    assert config["path"] == {
        "dl": {"delay_ms": 130.1, "loss_ratio": 0.01},
        "ul": {"delay_ms": 129.9, "loss_ratio": 0.0},
    }
    assert config["queue"] == {"dl": {"bytes": 250000}, "ul": {"packets": 80}}
    assert config["mtu_bytes"] == 9000


def test_flags_win_over_the_file_and_the_file_over_the_scenario(
    uneven: Path, tmp_path: Path
) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(f"cc: cubic\nscenario: {uneven}\nrtt: 40ms\nbuffer: 100pkt\nloss: 2%\n")
    resolved = resolve({"buffer": "7pkt"}, file)
    assert (resolved.rtt_ms, resolved.dl_delay_ms) == (40.0, None)
    assert (resolved.buffer, resolved.ul_buffer) == (Buffer(packets=7), None)
    assert (resolved.loss.dl, resolved.loss.ul) == (0.02, 0.02)
    assert resolved.mss_bytes == 8960  # nobody but the scenario says


def test_a_mm_wave_street_sets_its_carrier() -> None:
    config = link_config(resolve({"cc": "cubic", "scenario": "urban-mmwave"}), "core", "ue")
    carrier = config["radio"]
    assert (carrier["carrier_ghz"], carrier["numerology"], carrier["prb"]) == (28, 3, 264)
    assert carrier["duplex"]["tdd"]["pattern"] == "DDDSU"
    narrower = resolve({"cc": "cubic", "scenario": "urban-mmwave", "prb": 66})
    assert (narrower.prb, narrower.carrier_ghz) == (66, 28)


def test_an_invalid_setting_of_a_scenario_is_reported_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(f"{HEAD}{CAPACITY}path: {{dl: {{delay_ms: 1e6}}, ul: {{delay_ms: 1}}}}\n")
    with pytest.raises(RefusedError, match=rf"{file}: path: .*10000"):
        resolve({"cc": "cubic", "scenario": str(file)})


def test_a_numbered_name_is_one_link_of_a_file_that_draws(tmp_path: Path) -> None:
    assert scenarios.locate("mmwave-walking-07") == scenarios.LIBRARY / "mmwave-walking.yaml"
    assert scenarios.seed_of("mmwave-walking-07") == 7
    assert scenarios.seed_of("mmwave-walking") is None
    assert scenarios.seed_of("wan-1") is None
    config = link_config(resolve({"cc": "cubic", "scenario": "mmwave-walking-07"}), "a", "b")
    assert (config["scenario_seed"], config["seed"]) == (7, 1)
    assert "scenario_seed" not in link_config(resolve({"cc": "cubic"}), "a", "b")
    copied = tmp_path / "scenario.yaml"
    copy_scenario(scenarios.locate("mmwave-walking-07"), tmp_path)
    assert copied.read_bytes() == scenarios.locate("mmwave-walking").read_bytes()
    assert scenarios.locate(str(tmp_path / "scenario-12.yaml")) == copied
    assert scenarios.seed_of(str(tmp_path / "scenario-12.yaml")) == 12
    assert scenarios.seed_of(str(copied)) is None
    with pytest.raises(RefusedError, match="no scenario 'nowhere-07'"):
        scenarios.locate("nowhere-07")


def test_line_and_cross_traffic_come_from_the_scenario_too() -> None:
    path = link_config(resolve({"cc": "cubic", "scenario": "congested-reverse"}), "a", "b")["path"]
    assert "rate_mbps" not in path["dl"]
    assert path["ul"]["rate_mbps"] == 100
    assert path["ul"]["cross_traffic"] == {"rate_mbps": 102.9, "packet_bytes": 1500}


def test_a_run_ends_before_its_scenario_stops() -> None:
    urban = scenarios.locate("urban-mmwave")
    scenarios.check_time(urban, 57)
    with pytest.raises(RefusedError, match=r"stops after 60 s.*57s at most"):
        scenarios.check_time(urban, 60)
    scenarios.check_time(scenarios.locate("static"), 86_400)


def test_a_dry_run_over_given_capacity_shows_no_radio(uneven: Path) -> None:
    shown = resolved(resolve({"cc": "cubic", "scenario": str(uneven)}), uneven)
    content = yaml.safe_load(shown)
    assert not {*radio.FIELDS, radio.RADIO} & set(content)
    assert content["mss_bytes"] == 8960
    assert shown.startswith(f"# {uneven} gives capacity itself")
    static = scenarios.locate("static")
    assert "prb: 106" in resolved(resolve({"cc": "cubic", "scenario": "static"}), static)


def test_a_run_has_the_files_that_its_scenario_names(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "up").write_text("1\n2\n")
    rates = "capacity: {dl: {constant_mbps: 9}, ul: {trace: {file: traces/up, format: mahimahi}}}\n"
    file.write_text(HEAD + rates)
    (tmp_path / "raw").mkdir()
    copy_scenario(file, tmp_path / "raw")
    assert (tmp_path / "raw" / "traces" / "up").read_text() == "1\n2\n"
    (tmp_path / "inside").mkdir()
    outside = tmp_path / "inside" / "mine.yaml"
    outside.write_text(HEAD + rates.replace("traces/up", "../traces/up"))
    with pytest.raises(RefusedError, match=rf"^{outside}: ../traces/up is not in the scenario's"):
        resolve({"cc": "cubic", "scenario": str(outside)})


def test_what_is_wrong_in_a_scenario_is_reported_with_the_other_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"{HEAD}{CAPACITY}path: {{dl: {{delay_ms: late}}}}\n")
    with pytest.raises(RefusedError) as caught:
        resolve({"cc": "cubic", "scenario": str(file), "ues": 65})
    assert [str(one).split(":")[0] for one in caught.value.problems] == [str(file), "--ues"]
