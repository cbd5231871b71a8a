# SPDX-License-Identifier: Apache-2.0
"""Problems are reported where the value was written: the option, or file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.campaigns import definition, runner
from ccu.campaigns.folder import Folder
from ccu.scenarios.library import locate
from ccu.spec.places import written_at
from ddu.console.problems import Problem, RefusedError, Where

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
    with pytest.raises(RefusedError) as refused:
        runner.check(runner.Work(Folder(tmp_path / "campaign", campaign), {"cubic"}))
    return [line.replace(f"{tmp_path}/", "") for line in str(refused.value).splitlines()]


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("quick", ["try.yaml:9: factors.path.far.testbed: no testbed 'emulatd'. Did you mean "]),
        ("other", ["try.yaml:14: base.scenario: no scenario 'elsewhere'. "]),
        ("levels", ["try.yaml:21: factors.scenario.nirgends.scenario: no scenario 'nirgends'. "]),
    ],
)  # fmt: skip
def test_a_campaigns_key_is_reported_with_its_line(
    tmp_path: Path, profile: str, expected: list[str]
) -> None:
    printed = refusal(tmp_path, profile)
    assert len(printed) == len(expected)
    assert all(line.startswith(begin) for line, begin in zip(printed, expected, strict=True)), (
        printed
    )


def test_a_campaign_without_congestion_control_names_its_file(tmp_path: Path) -> None:
    file = tmp_path / "try.yaml"
    file.write_text("title: x\nbase: {scenario: static}\nfactors: {prb: [24]}\n")
    with pytest.raises(RefusedError, match=r"try.yaml: cc: no congestion control is chosen"):
        runner.Work(Folder(tmp_path / "campaign", definition.read(file)), {"cubic"})


PLACES = {
    "scenario": Where("e.yaml", 2, "scenario"),
    "path": Where("e.yaml", 3, "path"),
    "cc_params": Where("e.yaml", 4, "base.cc_params"),
    "flows": Where("e.yaml", 5, "cc"),
    "loss": Where(key="--loss"),
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where(key="scenario"), "e.yaml:2: scenario: wrong"),
        (Where(key="path.ul.rate_mbps"), "e.yaml:3: path.ul.rate_mbps: wrong"),
        (Where(key="cc_params.dtt"), "e.yaml:4: base.cc_params.dtt: wrong"),
        (Where(key="flows.0.cc"), "e.yaml:5: cc: wrong"),  # written as one word
        (Where(key="loss.dl"), "--loss: wrong"),
        (Where(key="rtt_ms"), "--rtt: wrong"),  # nobody wrote it: named by what would
        (Where(key="ul_buffer"), "ul_buffer: wrong"),  # which has no flag
        (Where(key="--output"), "--output: wrong"),
        (Where("scenario.yaml", 7, "path"), "scenario.yaml:7: path: wrong"),
        (Where(), "wrong"),
    ],
)
def test_a_key_becomes_the_place_where_it_was_written(where: Where, expected: str) -> None:
    with pytest.raises(RefusedError) as refused, written_at(PLACES):
        raise RefusedError(Problem("wrong", where=where))
    assert str(refused.value) == expected


def test_an_unwritten_key_is_reported_with_the_file() -> None:
    problems = [
        Problem("107", where=Where(key="prb")),
        Problem("full", where=Where(key="--output")),
    ]
    expected = r"^run.json: prb: 107\n--output: full$"
    with pytest.raises(RefusedError, match=expected), written_at({}, "run.json"):
        raise RefusedError(problems)


def test_a_scenario_that_is_an_argument_has_no_option() -> None:
    with pytest.raises(RefusedError, match=r"^\./nowhere: no such file"):
        locate("./nowhere")
