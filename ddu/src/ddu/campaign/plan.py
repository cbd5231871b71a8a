# SPDX-License-Identifier: Apache-2.0
"""What a campaign's report is to show: the `report` of its file, validated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ddu.errors import DduError
from ddu.schema.columns import column, written_names
from ddu.schema.figures import FIGURES, PER_FLOW, is_open
from testbed_console.suggestions import no_such, no_such_key, slip

OF_BEST = {"throughput_bps": "throughput_of_best_ratio", "goodput_bps": "goodput_of_best_ratio"}
"""What is shown as a share of the best in the same place (Reminis, section 4.2)."""

Where = dict[str, str]
"""Labels of levels by factor: the points that have them."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class Compare(_Value):
    """Which levels are set against which: all others of `factor` against `baseline`."""

    factor: str
    baseline: str
    metrics: tuple[str, ...] = ("throughput_bps", "rtt_ms.p95")


class Reference(_Value):
    """What the source found, to stand beside ours."""

    where: Where
    metric: str
    value: float
    source: str
    relative_to: Where | None = None
    """If given, `value` is the metric at `where` over the metric there."""


class _Figure(_Value):
    title: str
    colour: str = "cc"
    """The factor whose levels have a colour each."""
    panels: tuple[str, ...] = ()
    """Factors that get a picture for each combination of their levels."""
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


def report_plan(written: Any, place: str) -> ReportPlan:
    """The plan in `written`. Raises DduError with a line for each mistake."""
    try:
        return ReportPlan.model_validate(written or {})
    except ValidationError as error:
        mistakes = [_explain(item, place) for item in error.errors()]
        raise DduError(
            "\n".join(mistakes) + "\nmend the campaign's file and run it again"
        ) from None


def _explain(item: Any, place: str) -> str:
    written = ".".join(str(part) for part in item["loc"])
    wants_list = item["type"] in ("tuple_type", "list_type")
    if item["type"] == "extra_forbidden":
        inside = "".join(f".{part}" for part in item["loc"][:-1])
        return f"{place}: report{inside}: {no_such_key(ReportPlan, item)}"
    rule = "is a list: write each entry with a dash before it" if wants_list else item["msg"]
    return f"{place}: report.{written}: {rule}{slip(item)}"


def check(
    written: Any, factors: dict[str, Any], place: str, stop: dict[str, Any] | None = None
) -> None:
    """Raises DduError unless the plan can be drawn of a campaign with `factors`, and its stop rule
    be followed, so that it is told before the runs and not after them."""
    plan = report_plan(written, place)
    mistakes = [f"{place}: report.{mistake}" for mistake in _mistakes(plan, factors)]
    if stop:
        # The rule looks at a run by itself: at no mean over its flows, at no best of others.
        there = [name for name in FIGURES if not name.startswith(PER_FLOW)]
        if stop["metric"] not in there and not is_open(stop["metric"]):
            mistakes.append(f"{place}: stop.metric: {_no_figure(stop['metric'], there)}")
    if mistakes:
        raise DduError("\n".join(mistakes))


def _mistakes(plan: ReportPlan, factors: dict[str, Any]) -> Iterator[str]:
    yield from _unknown_figures("metrics", plan.metrics)
    for number, compared in enumerate(plan.compare):
        yield from _unknown_factors(f"compare.{number}", {compared.factor}, factors)
        yield from _unknown_figures(f"compare.{number}.metrics", compared.metrics)
    for number, theirs in enumerate(plan.reference):
        yield from _unknown_figures(f"reference.{number}.metric", [theirs.metric])
    for number, figure in enumerate(plan.figures):
        named = {*figure.panels, *figure.where}
        named |= {figure.colour} if "colour" in figure.model_fields_set else set()
        named |= {figure.x} if isinstance(figure, Lines) else set()
        yield from _unknown_factors(f"figures.{number}", named, factors)
        yield from _unknown_figures(f"figures.{number}", _figures_of(figure))
        for name in _columns_of(figure):
            if column(name) is None:
                known = written_names("aligned")
                see = "`ddu schema aligned` tells of each"
                yield f"figures.{number}: {no_such('column', name, known, see)}"


def _unknown_factors(where: str, named: set[str], factors: dict[str, Any]) -> Iterator[str]:
    for name in sorted(named - set(factors)):
        yield f"{where}: {no_such('factor', name, factors)}"


def _unknown_figures(where: str, named: Iterable[str]) -> Iterator[str]:
    there = {*FIGURES, *OF_BEST.values()}
    for name in named:
        if name not in there and not is_open(name):
            yield f"{where}: {_no_figure(name, there)}"


def _no_figure(name: str, there: Iterable[str]) -> str:
    return no_such("figure", name, there, "docs/metrics.md")


def _figures_of(figure: _Figure) -> Iterable[str]:
    """What it shows of summary.json."""
    if isinstance(figure, Plane):
        return [figure.x, figure.y]
    return [figure.y] if isinstance(figure, Lines) else []


def _columns_of(figure: _Figure) -> Iterable[str]:
    if isinstance(figure, Scatter):
        return [name for pair in figure.pairs for name in pair]
    return figure.columns if isinstance(figure, (Series, Cdf)) else []
