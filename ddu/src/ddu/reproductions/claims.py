# SPDX-License-Identifier: Apache-2.0
"""The claims of papers, as campaigns/claims has them: sentences, numbers, rules to test them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ddu.console.problems import InvalidValue, Problem, RefusedError, invalid, refusal
from ddu.console.suggestions import unknown
from ddu.console.validation import refused_file, words
from ddu.metrics.catalogue import is_open, numbers
from ddu.tables.columns import column, written_names

ABOUT = 0.2
"""Tolerance of a number that a paper gives. A limit has none."""

Labels = dict[str, tuple[str, ...]]
"""Labels of levels by factor: the points that have one of them."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class Column(_Value):
    """A number of a part of a run, from a column of its aligned table."""

    name: str
    take: Literal["mean", "std", "p5", "p50", "p95", "max"] = "mean"
    from_s: float = 0.0
    to_s: float = float("inf")
    flow: str | None = None
    """Only this flow's: f0 is the first."""
    beside: str | None = None
    """Only of bins in which this flow has a value, too: a flow has none while it is silent."""

    @field_validator("name")
    @classmethod
    def _is_one(cls, name: str) -> str:
        if column(name) is None:
            raise InvalidValue(unknown("column", name, written_names(), "see `ddu schema aligned`"))
        return name

    @property
    def number(self) -> str:
        """Return the name of the number, as records of campaigns have it."""
        beside = f"beside {self.beside}" if self.beside else ""
        part = f"{self.from_s:g} to {self.to_s:g} s"
        return " ".join(filter(None, [self.name, self.take, self.flow, beside, part]))


class Check(_Value):
    """One comparison of a number of the paper with ours."""

    heading: str = ""
    """Its name in the paper's `table`."""
    metric: str | None = None
    """A number of summary.json; `flow.…` is the mean over the data flows."""
    column: Column | None = None
    less: float = 0.0
    """Subtracted from the metric: the path's RTT, to compare queueing delays."""
    at: Labels = {}
    """The points that both sides of a comparison have in common."""
    of: Labels = {}
    over: Labels | None = None
    """If given, the ratio to these points, over the same links and seeds."""
    over_part: dict[str, Any] | None = None
    """If given, the ratio to another part of the column, of which this differs: flow or times."""
    against: str | None = None
    """If given, the ratio to each other level of this factor."""
    each: str | None = None
    """If given, the check is made for each level of this factor, of those in `at` if any."""
    about: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    between: tuple[float, float] | None = None
    tolerance: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Share by which ours may differ from `about`; the margin of "the same"."""
    extreme: Literal["max", "min"] | None = None
    """If given, the greatest or least of the runs or pairs in place of their mean: "up to"."""
    neutral: float | None = None
    """The number at which there is no effect; that of ratios is 1."""

    @field_validator("at", "of", "over", mode="before")
    @classmethod
    def _labels(cls, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        return {str(factor): words(labels) for factor, labels in written.items()}

    @field_validator("metric")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None and name not in numbers() and not is_open(name):
            raise InvalidValue(unknown("metric", name, numbers(), "see docs/metrics.md"))
        return name

    @model_validator(mode="after")
    def _is_one_rule(self) -> Check:
        rules = (self.about, self.at_least, self.at_most, self.between)
        if sum(rule is not None for rule in rules) != 1:
            raise invalid("has not one rule", "write about, at_least, at_most or between")
        if (self.metric is None) == (self.column is None):
            raise invalid("has not one number", "write metric or column")
        if self.about is None and self.tolerance is not None:
            raise invalid("tolerance: limits have none", "remove it, or write about")
        if sum(one is not None for one in (self.over, self.over_part, self.against)) > 1:
            raise invalid("has two divisors", "write over, over_part or against")
        if self.over_part is not None and self.column is None:
            raise invalid("over_part: is about a column", "write column")
        _ = self.divisor
        return self

    @property
    def number(self) -> str:
        """Return the name of the number that a run has for this."""
        if self.column is not None:
            return self.column.number
        assert self.metric is not None
        return self.metric

    @property
    def is_ratio(self) -> bool:
        return any(one is not None for one in (self.over, self.over_part, self.against))

    @property
    def divisor(self) -> Check:
        """Return the check whose numbers are below those of this one."""
        if self.over_part is None or self.column is None:
            return self
        other = Column.model_validate({**self.column.model_dump(), **self.over_part})
        return self.model_copy(update={"column": other})

    @property
    def no_effect(self) -> float | None:
        """Return the number that a claim about a difference excludes; an extreme is not tested."""
        if self.extreme:
            return None
        return 1.0 if self.neutral is None and self.is_ratio else self.neutral

    @property
    def claimed_effect(self) -> int:
        """Return 1 if the rule's own numbers are above that of no effect, -1 if below, else 0."""
        low, high = self._numbers
        if self.no_effect is None or low <= self.no_effect <= high:
            return 0
        return 1 if low > self.no_effect else -1

    @property
    def tests_equality(self) -> bool:
        """Whether it says that there is no effect: "the same", within the tolerance."""
        return self.about is not None and self.about == self.no_effect

    @property
    def _numbers(self) -> tuple[float, float]:
        """Return the range that the rule names."""
        if self.between is not None:
            return self.between
        if self.about is not None:
            return self.about, self.about
        return (
            float("-inf") if self.at_least is None else self.at_least,
            float("inf") if self.at_most is None else self.at_most,
        )

    @property
    def band(self) -> tuple[float, float]:
        """Return the range in which ours agrees."""
        if self.about is None:
            return self._numbers
        margin = abs(self.about) * (ABOUT if self.tolerance is None else self.tolerance)
        return self.about - margin, self.about + margin


class Claim(_Value):
    """A sentence of a paper, with the checks that it stands or falls by."""

    quote: str
    section: str
    checks: tuple[Check, ...] = ()
    one_suffices: bool = False
    """Whether it holds if one of its checks does, as a sentence with "or"."""
    untestable: str | None = None
    """The reason why it cannot be tested here."""
    note: str = ""
    """The explanation of our result, if it is known."""
    main: bool = False
    """Whether its first check is in the table of sensitivities."""
    vary: tuple[str, ...] = ()
    """Factors that the check fixes, whose other levels that table shows as well."""

    @model_validator(mode="after")
    def _can_be_judged(self) -> Claim:
        if bool(self.checks) == (self.untestable is not None):
            raise invalid("has no verdict", "write checks, or why it is untestable")
        if self.main and self.untestable is not None:
            raise invalid("is a main claim without a number", "leave out main, or write checks")
        return self


class OfCampaign(_Value):
    """The claims that one campaign tests."""

    shows: str
    """The content of the paper's figure or table, to read beside ours."""
    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]


class Paper(_Value):
    name: str
    """The name of its page."""
    title: str
    cite: str
    table: str | None = None
    """The factor of a table of the checks that have a heading: each of its levels is a column."""
    campaigns: dict[str, OfCampaign]


def read_papers(folder: Path) -> list[Paper]:
    """Return the papers of all files in `folder`. Raises RefusedError with every mistake."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        fix = "go to a checkout of the testbed, or name its folder campaigns with --campaigns"
        raise refusal("has no claims", fix, file=folder)
    papers, problems = [], list[Problem]()
    for file in files:
        try:
            papers.append(_read(file))
        except RefusedError as error:
            problems += error.problems
    if problems:
        raise RefusedError(problems)
    return papers


def _read(file: Path) -> Paper:
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise refusal(f"not YAML ({error})", "correct or quote the value", file=file) from None
    if not isinstance(content, dict):
        raise refusal("not a mapping", "write title, cite and campaigns", file=file)
    try:
        return Paper.model_validate({"name": file.stem, **content})
    except ValidationError as error:
        raise refused_file(error, Paper, file) from None


def checks_of(papers: list[Paper]) -> Iterator[tuple[str, Claim, Check]]:
    """Yield each check with its campaign and claim."""
    for paper in papers:
        for name, of_campaign in paper.campaigns.items():
            for claim in of_campaign.claims:
                yield from ((name, claim, check) for check in claim.checks)
