# SPDX-License-Identifier: Apache-2.0
"""What a campaign's file asks of summary.json is known, or refused, before there is a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ddu.analyze import analysis_of
from ddu.campaign.metrics import flat
from ddu.campaign.plan import problems_of
from ddu.cli.main import app
from ddu.metrics.catalogue import is_open
from ddu.metrics.catalogue import numbers as known_numbers
from testbed_testing.store_runs import two_flows, with_radio

FACTORS = {"cc": {"cubic": {}, "reno": {}}}


def numbers(summary: Any, before: str = "") -> set[str]:
    """The dotted names of what is a number, or may be one: an oracle of `flat` as it is used."""
    names = set()
    for key, value in summary.items():
        if isinstance(value, dict):
            names |= numbers(value, f"{before}{key}.")
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            names.add(f"{before}{key}")
    return names


def test_every_number_of_a_summary_is_known_and_no_other(tmp_path: Path) -> None:
    summary = analysis_of(with_radio(two_flows(60).write(tmp_path / "run"))).summary
    there = {name for name in flat(summary) if not is_open(name)}
    assert there <= known_numbers()
    # Of a whole run with a radio; null where this one has nothing to tell, as the MAC's floor.
    of_run = {key: value for key, value in summary.items() if key not in ("cross_checks", "flows")}
    may_be = numbers(of_run) | {f"flow.{name}" for name in numbers(summary["flows"][0])}
    assert {*known_numbers()} - may_be == {"mac_floor_ms.dl", "mac_floor_ms.ul"}


@pytest.mark.parametrize(
    ("report", "stop", "told"),
    [
        ({"metrics": ["throughput_bps", "rtt_ms.p59"]}, [],
         r"try.yaml: report.metrics: no metric 'rtt_ms.p59'. Did you mean .*rtt_ms.p95"),
        ({"compare": [{"factor": "cc", "baseline": "cubic", "metrics": ["goodput"]}]}, [],
         r"report.compare.0.metrics: no metric 'goodput'. Did you mean goodput_bps"),
        ({"figures": [{"kind": "plane", "title": "x", "x": "rtt", "y": "throughput_bps"}]}, [],
         r"report.figures.0: no metric 'rtt'"),
        ({"figures": [{"kind": "lines", "title": "x", "x": "cc", "y": "jain"}]}, [],
         r"report.figures.0: no metric 'jain'. Did you mean .*jain_throughput"),
        ({"reference": [{"where": {}, "metric": "mcs", "value": 1, "source": "x"}]}, [],
         r"report.reference.0.metric: no metric 'mcs'. Did you mean mcs.mean"),
        ({}, [{"metric": "throughput"}], r"try.yaml: stop.0.metric: no metric 'throughput'"),
        ({}, [{"metric": "flow.d3_ratio"}], r"stop.0.metric: no metric 'flow.d3_ratio'"),
    ],
)  # fmt: skip
def test_an_unknown_metric_is_refused(
    report: dict[str, Any], stop: list[dict[str, Any]], told: str
) -> None:
    (problem,) = problems_of(report, FACTORS, "try.yaml", stop)
    assert re.search(told, str(problem))


def test_names_that_only_a_run_can_give_are_accepted() -> None:
    asked = ["technology_ratio.NR", "events_count.handover", "throughput_of_best_ratio"]
    assert not problems_of({"metrics": asked}, FACTORS, "try.yaml", [{"metric": "rtt_ms.p95"}])


def test_problems_are_printed_as_json() -> None:
    asked = {"factors": FACTORS, "report": {"metrics": ["rtt_ms.p59"], "colour": 1}}
    command = ["campaign", "check", "--json", "try.yaml"]
    unknown_key = CliRunner().invoke(app, command, input=json.dumps(asked))
    assert unknown_key.exit_code == 2
    where = {"file": "try.yaml", "line": None, "key": "report.colour"}
    (problem,) = json.loads(unknown_key.stdout)
    assert problem["where"] == where
    assert problem["rule"] == "unknown key"
    del asked["report"]["colour"]
    unknown_metric = CliRunner().invoke(app, command, input=json.dumps(asked))
    (problem,) = json.loads(unknown_metric.stdout)
    assert problem["where"] == where | {"key": "report.metrics"}
    assert problem["fix"].startswith("did you mean rtt_ms.p")
    asked["report"]["metrics"] = []
    nothing = CliRunner().invoke(app, command, input=json.dumps(asked))
    assert (nothing.exit_code, json.loads(nothing.stdout)) == (0, [])
