# SPDX-License-Identifier: Apache-2.0
"""The checks of a campaign before its first run: can its report be drawn, its stop rules followed?

What a value must look like is checked where it is declared; here, the names that it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ddu.campaign.definition import Campaign
from ddu.campaign.plan import OF_BEST, Lines, ReportPlan, columns_of, metrics_of
from ddu.console.problems import Problem, Where
from ddu.console.suggestions import unknown
from ddu.metrics.catalogue import is_open, numbers
from ddu.tables.columns import column, written_names


def problems_of(campaign: Campaign) -> list[Problem]:
    """Return what keeps the report from being drawn and the stop rules from being followed, at
    their lines."""
    problems = list(_problems_of_plan(campaign.report, campaign.factors))
    for number, rule in enumerate(campaign.stop):
        # A rule looks at one run by itself, not at the best of all as OF_BEST does.
        problems += _unknown_metrics(f"stop.{number}.metric", [rule.metric], numbers())
    return [one.at(campaign.where(*(one.where.key or "").split("."))) for one in problems]


def _problems_of_plan(plan: ReportPlan, factors: dict[str, Any]) -> Iterator[Problem]:
    known = {*numbers(), *OF_BEST.values()}
    yield from _unknown_metrics("report.metrics", plan.metrics, known)
    for number, compared in enumerate(plan.compare):
        key = f"report.compare.{number}"
        yield from _unknown_factors(key, {compared.factor}, factors)
        yield from _unknown_metrics(f"{key}.metrics", compared.metrics, known)
    for number, theirs in enumerate(plan.reference):
        yield from _unknown_metrics(f"report.reference.{number}.metric", [theirs.metric], known)
    for number, figure in enumerate(plan.figures):
        key = f"report.figures.{number}"
        named = {*figure.panels, *figure.where}
        named |= {figure.colour} if "colour" in figure.model_fields_set else set()
        named |= {figure.x} if isinstance(figure, Lines) else set()
        yield from _unknown_factors(key, named, factors)
        yield from _unknown_metrics(key, metrics_of(figure), known)
        for name in columns_of(figure):
            if column(name) is None:
                see = "see `ddu schema aligned`"
                yield unknown("column", name, written_names(), see, Where(key=key))


def _unknown_factors(key: str, named: set[str], factors: dict[str, Any]) -> Iterator[Problem]:
    for name in sorted(named - set(factors)):
        yield unknown("factor", name, factors, where=Where(key=key))


def _unknown_metrics(key: str, named: Iterable[str], known: Iterable[str]) -> Iterator[Problem]:
    for name in named:
        if name not in known and not is_open(name):
            yield unknown("metric", name, known, "see docs/metrics.md", Where(key=key))
