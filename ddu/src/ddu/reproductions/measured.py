# SPDX-License-Identifier: Apache-2.0
"""The measurements of a campaign: the runs of one profile, and numbers of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.reproductions.claims import Check, Labels

PROFILES = ("full", "paper-third", "quick")
"""The profiles that a page may show, the most complete one first."""
_OF_LINK = ("scenario",)
"""Factors whose levels are other links: with the seed, they name one."""


@dataclass(frozen=True)
class Cost:
    """The cost of the runs that a campaign has made, without those that others share with it."""

    runs_count: int = 0
    cpu_h: float = 0.0
    disk_bytes: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.runs_count + other.runs_count,
            self.cpu_h + other.cpu_h,
            self.disk_bytes + other.disk_bytes,
        )


@dataclass(frozen=True)
class Measured:
    """The runs of one profile of a campaign."""

    profile: str
    factors: dict[str, list[str]]
    """The levels by factor, as planned."""
    planned_count: int
    """Runs that there may be; stop rules may end sooner."""
    shared_count: int
    """Results that another campaign has made."""
    is_finished: bool
    """Whether each point has the runs that the campaign asks for at least."""
    testbed: str | None
    """None: each point has its own."""
    git_revision: str
    git_modified: bool
    cost: Cost
    runs: pd.DataFrame
    """A row for each run that may be used: levels, seed, verdict, folder, and a column for each
    number, named as `claims.Check.number`."""

    @property
    def degraded_count(self) -> int:
        return int((self.runs["verdict"] == "degraded").sum())

    @property
    def completeness(self) -> tuple[int, bool, int]:
        """Return what orders measurements of a campaign: its profile, whether it is finished, and
        of unfinished ones the runs."""
        rank = -PROFILES.index(self.profile)
        return rank, self.is_finished, 0 if self.is_finished else len(self.runs)

    def values(self, check: Check, where: Labels) -> pd.Series[float]:
        """Return the check's number at `where` by link and seed: the mean over other factors."""
        at = self._at(where)
        if check.number not in self.runs or not at.any():
            return pd.Series(dtype=float)
        keys = [self.runs[name][at] for name in ("seed", *self.links(where))]
        numbers = self.runs[check.number][at].astype(float) - check.less
        means: pd.Series[float] = numbers.groupby(keys).mean().dropna()
        return means

    def observations(self, where: Labels) -> int:
        """Return how many runs at `where` differ in any number: runs in which nothing is random are
        one observation, however many seeds they have."""
        at = self._at(where)
        several = [
            name for name in self.factors if name in self.runs and len(where.get(name, ())) != 1
        ]
        alike = self._alike[at]
        if not several or alike.empty:
            return int(alike.nunique())
        return int(alike.groupby([self.runs[name][at] for name in several]).nunique().max())

    @cached_property
    def _alike(self) -> pd.Series[int]:
        """A number for each run, which runs that differ in no number share."""
        beside = [*self.factors, "seed", "verdict", "run"]
        numbers = self.runs.drop(columns=beside, errors="ignore")
        return numbers.groupby(list(numbers.columns), dropna=False).ngroup()

    def _at(self, where: Labels) -> npt.NDArray[np.bool_]:
        """Return which runs are of the points that have these labels."""
        at = np.full(len(self.runs), where.keys() <= set(self.runs))
        for factor, labels in where.items():
            if factor in self.runs:
                at &= self._has(factor, labels)
        return at

    def _has(self, factor: str, labels: tuple[str, ...]) -> npt.NDArray[np.bool_]:
        """Return which runs have one of the labels: claims ask for the same levels many times."""
        if (factor, labels) not in self._asked:
            self._asked[factor, labels] = self.runs[factor].isin(labels).to_numpy()
        return self._asked[factor, labels]

    @cached_property
    def _asked(self) -> dict[tuple[str, tuple[str, ...]], npt.NDArray[np.bool_]]:
        return {}

    def links(self, where: Mapping[str, object]) -> list[str]:
        """Return the factors beside the seed that distinguish links, where they are not fixed."""
        return [name for name in _OF_LINK if name in self.factors and name not in where]
