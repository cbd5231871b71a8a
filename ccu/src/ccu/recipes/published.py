# SPDX-License-Identifier: Apache-2.0
"""A published campaign, carried out again and compared with its record, run by run.

The record (docs/reproductions/CAMPAIGN) has every number of every run that a claim is checked
against. The runs are made again by the campaign's file, their numbers are compared without any
tolerance, and the pages are written from the new numbers and compared byte by byte.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from ccu.campaigns.cells import cells
from ccu.recipes.again import made_again
from ccu.recipes.report import Report
from ccu.testbeds import drivers
from ddu.campaign.analysis import analyze_all
from ddu.campaign.definition import Campaign
from ddu.console.problems import refusal
from ddu.reproductions.claims import Check, Paper, checks_of
from ddu.reproductions.measured import Measured
from ddu.reproductions.of_runs import numbers_of
from ddu.reproductions.pages import write_pages
from ddu.reproductions.records import read_record, write_record

_NAMES_THE_ATTEMPT = "run"
"""The column with a run's folder, which is named by its time."""


@dataclass(frozen=True)
class Published:
    """A campaign's record, with the files that its pages are written from."""

    name: str
    record: Measured
    pages: Path
    """The folder of the pages and records."""
    campaigns: Path
    """The folder of the campaigns' files."""
    papers: list[Paper]

    @property
    def checks(self) -> list[Check]:
        return [check for name, _, check in checks_of(self.papers) if name == self.name]

    def sample(self, count: int | None, seed: int) -> pd.DataFrame:
        """Return `count` of the runs, drawn by `seed`, in the record's order; all without a
        count."""
        runs = self.record.runs
        if count is None or count >= len(runs):
            return runs
        return runs.iloc[sorted(random.Random(seed).sample(range(len(runs)), count))]


@dataclass(frozen=True)
class Verified:
    """One run of the record, made again."""

    title: str
    columns: int
    """The number of columns that were compared."""
    differences: tuple[str, ...]
    """Each column that differs, with both values; or why there is no run."""


def read(name: str, pages: Path, campaigns: Path, papers: list[Paper]) -> Published:
    """Return the published campaign. Raises RefusedError."""
    record = read_record(pages / name)
    if record is None:
        rule = f"has no record of the campaign {name}"
        raise refusal(rule, "name a campaign that its README.md lists as run", file=pages)
    driver = drivers().get(record.testbed) if record.testbed else None
    if record.testbed and not (driver and driver.repeatable):
        rule = f"{name} was run on the testbed {record.testbed}, which repeats nothing to the byte"
        raise refusal(rule, "name a campaign of a testbed that does")
    return Published(name, record, pages, campaigns, papers)


def verified(
    published: Published, campaign: Campaign, runs: pd.DataFrame, output: Path, report: Report,
    jobs: int | None = None,
) -> tuple[list[Verified], pd.DataFrame]:  # fmt: skip
    """Make the `runs` of the record again below `output`.

    Returns what came of each, and the new numbers, with the record's columns. Raises RefusedError.
    """
    there = {(cell.point, cell.seed): cell for cell in cells(campaign)}
    rows = list(_rows(runs, list(campaign.factors)))
    chosen = [there[key].slug for key, _ in rows if key in there]
    if not chosen:
        rule = "its file plans none of the runs of the record"
        raise refusal(
            rule, "take the file of the revision that the record names", key=campaign.name
        )
    without_rules = campaign.model_copy(
        update={"stop": ()}
    )  # The record says which runs there are.
    made = made_again(without_rules, chosen, output, report, jobs)
    report("analysing")
    numbers = numbers_of(made, published.checks, analyze_all(Console(quiet=True)))
    new = dict(_rows(numbers, list(campaign.factors)))
    return [_compared(key, row, new.get(key), key in there) for key, row in rows], numbers


_Key = tuple[tuple[tuple[str, str], ...], int]
"""Levels and seed."""


def _rows(runs: pd.DataFrame, factors: list[str]) -> Iterator[tuple[_Key, pd.Series]]:
    for _, row in runs.iterrows():
        yield (tuple((name, str(row.get(name))) for name in factors), int(row["seed"])), row


def _compared(key: _Key, old: pd.Series, new: pd.Series | None, is_planned: bool) -> Verified:
    point, seed = key
    title = " ".join([*(f"{name}={label}" for name, label in point), f"seed={seed}"])
    columns = [name for name in old.index if name not in (*dict(point), "seed", _NAMES_THE_ATTEMPT)]
    if new is None:
        why = "no result of it" if is_planned else "the campaign's file plans no such run"
        return Verified(title, len(columns), (why,))
    differing = (
        f"{name}: {old[name]} there, {new.get(name)} here"
        for name in columns
        if not _same(old[name], new.get(name))
    )
    return Verified(title, len(columns), tuple(differing))


def _same(old: Any, new: Any) -> bool:
    return bool(old == new or (pd.isna(old) and pd.isna(new)))


def differing_pages(published: Published, numbers: pd.DataFrame, folder: Path) -> list[str]:
    """Write all pages below `folder`, with `numbers` in place of the record's of the same runs, and
    return the names of the files that are not those published."""
    shutil.copytree(published.pages, folder)
    record = published.record
    write_record(folder / published.name,
                 dataclasses.replace(record, runs=_with(numbers, record)))  # fmt: skip
    write_pages(published.papers, published.campaigns, folder / "none", folder, lambda _runs: None)
    names = {
        str(file.relative_to(root))
        for root in (published.pages, folder)
        for file in root.rglob("*")
        if file.is_file()
    }
    return sorted(name for name in names if not _alike(published.pages / name, folder / name))


def _with(numbers: pd.DataFrame, record: Measured) -> pd.DataFrame:
    """Return the record's runs with the new numbers where there are any; folders stay."""
    keys = [*record.factors, "seed"]
    new = numbers.astype(dict.fromkeys(record.factors, str)).set_index(keys)
    merged = record.runs.set_index(keys)
    for name in merged.columns.intersection(new.columns).drop(_NAMES_THE_ATTEMPT):
        merged.loc[new.index.intersection(merged.index), name] = new[name]
    return merged.reset_index()[list(record.runs.columns)]


def _alike(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()
