# SPDX-License-Identifier: Apache-2.0
"""The contents of a campaign's report: the `report` of its file, validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ddu.console.problems import Problem, RefusedError, Where
from ddu.console.suggestions import unknown
from ddu.console.validation import invalid_values
from ddu.metrics.catalogue import is_open, numbers
from ddu.tables.columns import column, written_names

OF_BEST = {"throughput_bps": "throughput_of_best_ratio", "goodput_bps": "goodput_of_best_ratio"}
"""Numbers that are shown as a share of the best in the same place (Reminis, section 4.2)."""

Levels = dict[str, str]
"""Labels of levels by factor: the points that have them."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class Compare(_Value):
    """A comparison of all levels of `factor` with `baseline`."""

    factor: str
    baseline: str
    metrics: tuple[str, ...] = ("throughput_bps", "rtt_ms.p95")


class Reference(_Value):
    """A number of the source, to stand beside ours."""

    where: Levels
    metric: str
    value: float
    source: str
    relative_to: Levels | None = None
    """If given, `value` is the metric at `where` over the metric there."""


class _Figure(_Value):
    title: str
    colour: str = "cc"
    """The factor whose levels have a colour each."""
    panels: tuple[str, ...] = ()
    """Factors with a plot for each combination of their levels."""
    where: dict[str, str | tuple[str, ...]] = {}
    """Only these points."""


class Plane(_Figure):
    """A dot for each point of the design, with its intervals and an ellipse over its repeats."""

    kind: Literal["plane"]
    x: str = "rtt_ms.mean"
    y: str = "throughput_bps"


class Lines(_Figure):
    """A metric over the levels of a factor, with its interval."""

    kind: Literal["lines", "bars"]
    x: str
    y: str


class Series(_Figure):
    """A column of the aligned table over time: the mean of the repeats in each second or bin."""

    kind: Literal["series"]
    columns: tuple[str, ...]
    bin_s: Annotated[float, Field(gt=0)] = 0.5


class Cdf(_Figure):
    """The distribution of a column of the aligned table, of all repeats together."""

    kind: Literal["cdf"]
    columns: tuple[str, ...]


class Scatter(_Figure):
    """One column of the aligned table against another, a dot a bin."""

    kind: Literal["scatter"]
    pairs: tuple[tuple[str, str], ...]


Figure = Annotated[Plane | Lines | Series | Cdf | Scatter, Field(discriminator="kind")]


class ReportPlan(_Value):
    """Everything that the report shows beside the table of points."""

    metrics: tuple[str, ...] = (
        "throughput_bps",
        "rtt_ms.mean",
        "rtt_ms.p95",
        "retransmissions_count",
    )
    compare: tuple[Compare, ...] = ()
    figures: tuple[Figure, ...] = ()
    reference: tuple[Reference, ...] = ()


def report_plan(written: Any, file: str | None = None) -> ReportPlan:
    """Return the plan in `written`. Raises RefusedError with every problem of it."""
    try:
        return ReportPlan.model_validate(written or {})
    except ValidationError as error:
        report = Where(file, key="report")
        problems = invalid_values(error, ReportPlan)
        raise RefusedError(one.at(one.where.inside(report)) for one in problems) from None


def problems_of(
    written: Any, factors: dict[str, Any], stop: Sequence[dict[str, Any]] = ()
) -> list[Problem]:
    """Return what keeps the plan from being drawn for a campaign with `factors`, and its stop rules
    from being followed: known before the first run, not after the last."""
    try:
        plan = report_plan(written)
    except RefusedError as error:
        return list(error.problems)
    found = list(_problems_of_plan(plan, factors))
    for number, rule in enumerate(stop):
        # A rule looks at one run by itself, not at the best of all as OF_BEST does.
        found += _unknown_metrics(f"stop.{number}.metric", [rule["metric"]], numbers())
    return found


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
        for name in _columns_of(figure):
            if column(name) is None:
                see = "see `ddu schema aligned`"
                yield unknown("column", name, written_names("aligned"), see, Where(key=key))


def _unknown_factors(key: str, named: set[str], factors: dict[str, Any]) -> Iterator[Problem]:
    for name in sorted(named - set(factors)):
        yield unknown("factor", name, factors, where=Where(key=key))


def _unknown_metrics(key: str, named: Iterable[str], known: Iterable[str]) -> Iterator[Problem]:
    for name in named:
        if name not in known and not is_open(name):
            yield unknown("metric", name, known, "docs/metrics.md", Where(key=key))


def metrics_of(figure: _Figure) -> Iterable[str]:
    """Return the numbers of a run that the figure shows."""
    if isinstance(figure, Plane):
        return [figure.x, figure.y]
    return [figure.y] if isinstance(figure, Lines) else []


def _columns_of(figure: _Figure) -> Iterable[str]:
    if isinstance(figure, Scatter):
        return [name for pair in figure.pairs for name in pair]
    return figure.columns if isinstance(figure, (Series, Cdf)) else []
