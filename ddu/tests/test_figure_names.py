# SPDX-License-Identifier: Apache-2.0
"""The numbers that a campaign's file names are known, or refused, before there is a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ddu.analyze import analysis_of
from ddu.campaign.checks import problems_of
from ddu.campaign.definition import Campaign
from ddu.campaign.metrics import flat
from ddu.metrics.catalogue import is_open, summary_metrics
from ddu.metrics.catalogue import numbers as known_numbers
from testsupport.store_runs import two_flows, with_radio


def campaign(report: dict[str, Any], stop: list[dict[str, Any]]) -> Campaign:
    rules = [{"half_width_ratio": 0.1, **rule} for rule in stop]
    factors = {"cc": ["cubic", "reno"]}
    return Campaign.model_validate(
        {"name": "x", "title": "x", "factors": factors, "report": report, "stop": rules}
    )


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
    # Of a whole run with a radio; null where this one has no value, as the MAC's floor.
    of_run = {key: value for key, value in summary.items() if key not in ("cross_checks", "flows")}
    may_be = numbers(of_run) | {f"flow.{name}" for name in numbers(summary["flows"][0])}
    # This run has no flow of QUIC and none with a volume.
    if_known = {metric.name for metric in summary_metrics() if metric.if_known}
    others = {
        name
        for name in {*known_numbers()} - may_be
        if name.removeprefix("flow.").partition(".")[0] not in if_known
    }
    assert others == {"mac_floor_ms.dl", "mac_floor_ms.ul"}


@pytest.mark.parametrize(
    ("report", "stop", "message"),
    [
        ({"metrics": ["throughput_bps", "rtt_ms.p59"]}, [],
         r"report.metrics: no metric 'rtt_ms.p59'. Did you mean .*rtt_ms.p95"),
        ({"compare": [{"factor": "cc", "baseline": "cubic", "metrics": ["goodput"]}]}, [],
         r"report.compare.0.metrics: no metric 'goodput'. Did you mean goodput_bps"),
        ({"figures": [{"kind": "plane", "title": "x", "x": "rtt", "y": "throughput_bps"}]}, [],
         r"report.figures.0: no metric 'rtt'"),
        ({"figures": [{"kind": "lines", "title": "x", "x": "cc", "y": "jain"}]}, [],
         r"report.figures.0: no metric 'jain'. Did you mean .*jain_throughput"),
        ({"reference": [{"where": {}, "metric": "mcs", "value": 1, "source": "x"}]}, [],
         r"report.reference.0.metric: no metric 'mcs'. Did you mean mcs.mean"),
        ({}, [{"metric": "throughput"}], r"stop.0.metric: no metric 'throughput'"),
        ({}, [{"metric": "flow.d3"}], r"stop.0.metric: no metric 'flow.d3'. .*flow.d3_ratio"),
        ({}, [{"metric": "throughput_of_best_ratio"}],
         r"stop.0.metric: no metric 'throughput_of_best_ratio'"),
    ],
)  # fmt: skip
def test_an_unknown_metric_is_refused(
    report: dict[str, Any], stop: list[dict[str, Any]], message: str
) -> None:
    (problem,) = problems_of(campaign(report, stop))
    assert re.search(message, str(problem))


def test_names_that_only_a_run_can_give_are_accepted() -> None:
    asked = ["technology_ratio.NR", "events_count.handover", "throughput_of_best_ratio"]
    assert not problems_of(campaign({"metrics": asked}, [{"metric": "rtt_ms.p95"}]))


def test_a_stop_rule_may_name_a_mean_over_the_flows() -> None:
    rules = [{"metric": "flow.d3_ratio"}, {"metric": "flow.rtt_ms.p95"}]
    assert not problems_of(campaign({}, rules))
