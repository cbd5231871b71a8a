# SPDX-License-Identifier: Apache-2.0
"""The contents of a campaign's report: the `report` of its file, validated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

OF_BEST = {"throughput_bps": "throughput_of_best_ratio", "goodput_bps": "goodput_of_best_ratio"}
"""Numbers that are shown as a share of the best in the same place (docs/reproductions)."""

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


def metrics_of(figure: _Figure) -> Iterable[str]:
    """Return the numbers of a run that the figure shows."""
    if isinstance(figure, Plane):
        return [figure.x, figure.y]
    return [figure.y] if isinstance(figure, Lines) else []


def columns_of(figure: _Figure) -> Iterable[str]:
    """Return the columns of the aligned table that the figure shows."""
    if isinstance(figure, Scatter):
        return [name for pair in figure.pairs for name in pair]
    return figure.columns if isinstance(figure, (Series, Cdf)) else []
