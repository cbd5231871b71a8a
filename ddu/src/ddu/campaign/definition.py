# SPDX-License-Identifier: Apache-2.0
"""The definition of a campaign: one validated value, as its file and its campaign.json have it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    field_serializer,
    field_validator,
    model_validator,
)

from ddu.campaign.plan import ReportPlan
from ddu.console.problems import InvalidValue, Where, invalid
from ddu.console.suggestions import unknown
from ddu.console.validation import word, words

_MOST_POINTS = 20_000
"""The points of a campaign with those that it excludes; all are checked before the first run."""
_MOST_RUNS = 1_000_000
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Levels = dict[str, dict[str, Any]]
"""The levels of a factor: for each label the keys of the experiment that it sets."""
Point = tuple[tuple[str, str], ...]
"""A point of the design: factors and labels, in the file's order."""
Lines = dict[tuple[str, ...], int]
"""The line of each key of a file by the keys that lead to it."""
Keep = Literal["raw", "tables", "summary"]
"""The part of a run that stays on disk. `raw`: everything. `tables`: all but captures and samples.
`summary`: run.json, summary.json, and the scenario, without which the run cannot be repeated."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class StopRule(_Value):
    """The precision of a point's mean at which it needs no further repeats.

    The half-width of Student's confidence interval of the mean of `metric` over the repeats, as a
    share of the mean, is at most `half_width_ratio`.
    """

    metric: str
    """A number of summary.json; a dot selects a nested one, as in `rtt_ms.p95`. `flow.…` is the
    mean over the data flows."""
    half_width_ratio: Annotated[float, Field(gt=0, lt=1)]
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    min_repeats: Annotated[int, Field(ge=2)] = 3


class Campaign(_Value):
    """A design: factors crossed, each point repeated with seeds, in a reproducible order."""

    name: Name
    profile: str = ""
    title: str
    source: str = ""
    differs: tuple[str, ...] = ()
    """The differences from the source, in sentences that the report shows."""
    base: dict[str, Any] = {}
    """The keys that all runs have in common, as in `ccu run --file`."""
    factors: dict[str, Levels]
    exclude: tuple[dict[str, tuple[str, ...]], ...] = ()
    repeats: Annotated[int, Field(ge=1, le=10_000)] = 1
    first_seed: Annotated[int, Field(ge=0, lt=2**62)] = 1
    """Repeat r has seed first_seed + r at every point: repeats are paired across points."""
    order: Literal["random", "listed"] = "random"
    """`random`: each repeat is a block that holds every point once, shuffled."""
    order_seed: int = 1
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """The pause between two runs on one testbed."""
    retries: Annotated[int, Field(ge=0, le=100)] = 2
    min_radio_time_factor: Annotated[float, Field(gt=0, le=1)] | None = None
    """The least seconds of radio time per second that a trial before the first run must reach."""
    stop: tuple[StopRule, ...] = ()
    """A point needs no further repeats when all of these are satisfied; one may stand alone."""
    keep: Keep = "raw"
    """The part of each run that stays on disk."""
    report: ReportPlan = ReportPlan()
    """The content of the campaign's report: metrics, comparisons, figures, the source's numbers."""

    _file: Path | None = PrivateAttr(None)
    _lines: Lines = PrivateAttr({})

    @property
    def full_name(self) -> str:
        """Return the name with the profile, as that of the campaign's directory."""
        return f"{self.name}-{self.profile}" if self.profile else self.name

    @property
    def points(self) -> list[Point]:
        """Return the points of the design: the factors' product without what is excluded."""
        axes = [[(name, label) for label in levels] for name, levels in self.factors.items()]
        return [point for point in itertools.product(*axes) if not self._is_excluded(dict(point))]

    def _is_excluded(self, levels: dict[str, str]) -> bool:
        return any(
            all(levels[factor] in labels for factor, labels in item.items())
            for item in self.exclude
        )

    def read_from(self, file: Path, lines: Lines) -> Campaign:
        """Return the campaign, whose keys have these lines in this file."""
        self._file, self._lines = file, lines
        return self

    def where(self, *path: str) -> Where:
        """Return the place of a key, or of the key around it; the profile's own comes first. Return
        the campaign's name if it was not read from a user's file."""
        key = ".".join(path) or None
        if self._file is None:
            return Where(self.name, key=key)
        return Where(str(self._file), line_of(self._lines, self.profile, path), key)

    def same_runs(self, other: Campaign) -> bool:
        """Return whether both define the same runs, whatever is said of them and kept."""
        others = {"title", "source", "differs", "report", "keep", "min_radio_time_factor"}
        return self.model_dump(exclude=others) == other.model_dump(exclude=others)

    @field_serializer("report")
    def _as_written(self, report: ReportPlan) -> dict[str, Any]:
        return report.model_dump(mode="json", exclude_unset=True)

    @field_validator("report", mode="before")
    @classmethod
    def _nothing_written(cls, written: Any) -> Any:
        return {} if written is None else written

    @field_validator("factors", mode="before")
    @classmethod
    def _levels(cls, written: Any) -> Any:
        if not isinstance(written, dict) or not written:
            raise invalid("has no factor", "name at least one, such as `cc: [cubic, reno]`")
        return {str(name): _levels_of(str(name), levels) for name, levels in written.items()}

    @field_validator("stop", mode="before")
    @classmethod
    def _rules(cls, written: Any) -> Any:
        if written is None:
            return ()
        return [written] if isinstance(written, dict) else written

    @field_validator("exclude", mode="before")
    @classmethod
    def _labels(cls, written: Any) -> Any:
        if not isinstance(written, (list, tuple)):
            raise invalid("is not a list", "write mappings from factor to level, or levels")
        return [_as_labels(item) for item in written]

    @model_validator(mode="after")
    def _can_be_listed(self) -> Campaign:
        points = math.prod(map(len, self.factors.values()))
        fix = "name fewer levels, or make several campaigns of it"
        if points > _MOST_POINTS:
            rule = f"has {points} points, more than {_MOST_POINTS}"
            raise invalid(rule, fix, key="factors")
        if points * self.repeats > _MOST_RUNS:
            runs = points * self.repeats
            raise invalid(f"makes {runs} runs, more than {_MOST_RUNS}", fix, key="repeats")
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Campaign:
        # A report may refer to points that a profile leaves out; an excluded point must exist.
        for number, item in enumerate(self.exclude):
            for factor, labels in item.items():
                there = self.factors.get(factor)
                if there is None:
                    where = Where(key=f"exclude.{number}")
                    raise InvalidValue(unknown("factor", factor, self.factors, where=where))
                for label in labels:
                    if label not in there:
                        where = Where(key=f"exclude.{number}.{factor}")
                        raise InvalidValue(unknown("level", label, there, where=where))
        return self


def _levels_of(name: str, written: Any) -> Levels:
    """Return the levels: a list sets the key of the factor's name, a mapping names sets of keys."""
    if isinstance(written, list) and written:
        levels = {word(value): {name: value} for value in written}
        if len(levels) < len(written):
            raise invalid("the same level twice", "name each once", key=name)
        return levels
    if isinstance(written, dict) and written:
        for label, keys in written.items():
            if not isinstance(keys, dict):
                raise invalid(
                    f"is {keys!r}",
                    "write a mapping of the experiment's keys",
                    key=f"{name}.{label}",
                )
        return {word(label): dict(keys) for label, keys in written.items()}
    if written and not isinstance(written, (list, dict)):
        raise invalid("is not a list", f"write [{written}]", key=name)
    raise invalid("has no levels, so there is nothing to run", "list at least one", key=name)


def _as_labels(item: Any) -> Any:
    if not isinstance(item, dict):
        raise invalid(f"the entry {item!r} is not a mapping", "write a level, or levels, by factor")
    return {str(factor): words(chosen) for factor, chosen in item.items()}


def line_of(lines: Lines, profile: str, path: tuple[str, ...]) -> int | None:
    """Return the line of a key, or of what it stands in; the profile's own comes first."""
    own = ("profiles", profile, *path)
    for inside in range(len(path), 0, -1):
        for key in (own[: inside + 2], path[:inside]):
            if key in lines:
                return lines[key]
    return None
