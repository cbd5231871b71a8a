# SPDX-License-Identifier: Apache-2.0
"""The claims of the papers fit the campaigns that test them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ccu.campaigns import definition
from ddu.reproductions.claims import Check, Labels, checks_of, read_papers
from ddu.reproductions.pages import write_pages

PAGES = Path(__file__).parents[2] / "docs" / "reproductions"
PAPERS = read_papers(definition.LIBRARY / "claims")


def test_every_campaign_of_a_paper_has_claims_and_every_claim_a_campaign() -> None:
    named = [name for paper in PAPERS for name in paper.campaigns]
    assert len(set(named)) == len(named)
    assert set(named) <= set(definition.library())
    without = definition.library().keys() - set(named)
    sources = {name: definition.read(definition.locate(name)).source for name in without}
    # A question of our own may have results before anybody claims something.
    assert all(source.startswith("docs/") for source in sources.values()), sources


def test_the_full_profile_has_all_points_that_a_check_compares() -> None:
    read = cache(lambda name: definition.read(definition.locate(name), "full"))
    for name, claim, check in checks_of(PAPERS):
        campaign = read(name)
        points = [dict(point) for point in campaign.points]
        for levels in _compared(check, {k: list(v) for k, v in campaign.factors.items()}):
            there = any(_has(point, levels) for point in points)
            assert there, f"{name}: {claim.quote}: no point has {levels}"


def test_the_pages_are_what_the_records_give(tmp_path: Path) -> None:
    """Verdicts follow from numbers that are kept: nothing on the pages is edited manually."""
    again = tmp_path / "reproductions"
    shutil.copytree(PAGES, again, ignore=shutil.ignore_patterns("*.md", "*.svg", "claims.csv"))
    write_pages(PAPERS, definition.LIBRARY, tmp_path, again, lambda _: None)
    names = _files(PAGES)
    assert names == _files(again)
    for name in sorted(names):
        assert (again / name).read_bytes() == (PAGES / name).read_bytes(), name


def _files(folder: Path) -> set[Path]:
    return {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}


def _compared(check: Check, factors: Mapping[str, Sequence[str]]) -> list[Labels]:
    """Return all points that the check names, one set for each of its numbers."""
    points = [{**check.at, **check.of}]
    if check.over is not None:
        points.append({**check.at, **check.over})
    for factor in filter(None, (check.each, check.against)):
        labels = check.at.get(factor, tuple(factors[factor]))
        points = [{**one, factor: (label,)} for one in points for label in labels]
    return points


def _has(point: dict[str, str], levels: Labels) -> bool:
    return all(factor in point and point[factor] in labels for factor, labels in levels.items())
