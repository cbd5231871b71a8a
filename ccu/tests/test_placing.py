# SPDX-License-Identifier: Apache-2.0
"""What cannot work is told where its value was written: the option, or file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.campaigns import definition, runner
from ccu.campaigns.folder import Folder
from ccu.scenarios.library import locate
from ccu.spec.errors import Refused
from ccu.spec.placing import told_at

CAMPAIGN = """\
title: A try
base:
  duration: 1s
  scenario: nowhere
factors:
  cc: [cubic]
  path:
    near: {rtt: 5ms}
    far: {rtt: 50ms, testbed: emulatd}
profiles:
  quick: {repeats: 2}
  other:
    base:
      scenario: elsewhere
    factors:
      path: null
  levels:
    factors:
      scenario:
        - static
        - nirgends
      path: null
"""


def refusal(tmp_path: Path, profile: str) -> list[str]:
    file = tmp_path / "try.yaml"
    file.write_text(CAMPAIGN)
    campaign = definition.read(file, profile)
    with pytest.raises(Refused) as refused:
        runner.check(runner.Work(Folder(tmp_path / "campaign", campaign), {"cubic"}))
    return [line.replace(f"{tmp_path}/", "") for line in str(refused.value).splitlines()]


@pytest.mark.parametrize(
    ("profile", "told"),
    [
        # What an experiment cannot even be read with comes before what it names.
        ("quick", ["try.yaml:9: factors.path.far: testbed: no testbed 'emulatd'; did you mean "]),
        ("other", ["try.yaml:14: base.scenario: no scenario 'elsewhere'; "]),
        ("levels", ["try.yaml:21: factors.scenario.nirgends: scenario: no scenario 'nirgends'; "]),
    ],
)  # fmt: skip
def test_a_campaigns_key_is_told_with_its_line(
    tmp_path: Path, profile: str, told: list[str]
) -> None:
    said = refusal(tmp_path, profile)
    assert len(said) == len(told)
    assert all(line.startswith(begin) for line, begin in zip(said, told, strict=True)), said


def test_a_campaign_without_congestion_control_names_its_file(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    file.write_text("title: x\nbase: {scenario: static}\nfactors: {prb: [24]}\n")
    with pytest.raises(Refused, match=r"try.yaml: cc: which congestion control\?"):
        runner.Work(Folder(tmp_path / "campaign", definition.read(file)), {"cubic"})


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("--scenario: no scenario 'x'", "e.yaml:2: scenario: no scenario 'x'"),
        ("--testbed phone: is off: charge it", "e.yaml:3: testbed: phone: is off: charge it"),
        ("--cc-param: dtt=soon: no time", "e.yaml:4: cc_params: dtt=soon: no time"),
        ("--prb: 107", "--prb: 107"),
        ("--output: no space", "--output: no space"),
        ("  a line of a log", "  a line of a log"),
    ],
)  # fmt: skip
def test_an_option_becomes_the_place_in_the_file(said: str, told: str) -> None:
    places = {
        "scenario": "e.yaml:2: scenario",
        "testbed": "e.yaml:3: testbed",
        "cc_params": "e.yaml:4: cc_params",
        "prb": "--prb",
    }
    with pytest.raises(Refused) as refused, told_at(places):
        raise Refused(f"{said}\n{said}")
    assert str(refused.value) == f"{told}\n{told}"


def test_what_no_place_is_known_of_is_told_elsewhere() -> None:
    told = r"^run.json: prb: 107\n--output: full$"
    with pytest.raises(Refused, match=told), told_at({}, "run.json"):
        raise Refused("--prb: 107\n--output: full")


def test_a_scenario_that_is_an_argument_has_no_option() -> None:
    with pytest.raises(Refused, match=r"^\./nowhere: no such file"):
        locate("./nowhere")
