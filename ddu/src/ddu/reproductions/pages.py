# SPDX-License-Identifier: Apache-2.0
"""Pages of what papers claim and what we measured: one a paper, and a table of all campaigns."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pydantic import ValidationError

from ddu.campaign.figures import Figures, write_figures
from ddu.campaign.metrics import Shown, shown
from ddu.campaign.plan import ReportPlan
from ddu.console.problems import refusal
from ddu.console.validation import refused_file
from ddu.report.templates import bounds, number, templates_of
from ddu.reproductions.claims import Check, Column, Labels, OfCampaign, Paper
from ddu.reproductions.measured import Cost, Measured
from ddu.reproductions.of_runs import Analyze, measured
from ddu.reproductions.outcomes import Outcome, Sensitivity, Tested, sensitivity, tested
from ddu.reproductions.records import read_record, write_record
from ddu.reproductions.table import table_of
from ddu.reproductions.verdicts import VERDICTS, Verdict
from ddu.statistics import Interval
from ddu.tables.results import TableMissing

_SHOWN_EACH = 8
"""Numbers of one check that have a row each; of more, the extremes are shown."""


@dataclass(frozen=True)
class Section:
    """A campaign on the page of its paper."""

    name: str
    about: dict[str, Any]
    """The campaign's file: title, source, differs."""
    of_campaign: OfCampaign
    measured: Measured | None
    claims: list[Tested]
    figures: Figures
    has_less_complete_runs: bool = False
    """Whether there are runs, of which the record has more."""

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """Return how many claims have each verdict."""
        counts = Counter(claim.verdict for claim in self.claims)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    @property
    def numbers(self) -> tuple[int, int]:
        """Return how many numbers of the paper there are, and of those how many hold."""
        each = [one.verdict for claim in self.claims for one in claim.outcomes]
        return len(each), each.count("holds")


def write_pages(
    papers: list[Paper], campaigns: Path, runs: Path, output: Path, analyze: Analyze
) -> tuple[Path, list[str]]:
    """Write a page for each paper, records of its campaigns, and README.md.

    `campaigns`: the folder of their files; `runs`: that of their directories. A campaign without
    runs there, or with less complete ones, keeps the record that `output` has of it. Returns
    README.md and the campaigns with less complete runs."""
    output.mkdir(parents=True, exist_ok=True)
    environment = templates_of("ddu.reproductions").overlay(autoescape=False)
    environment.globals |= {
        "rows_of": rows_of, "what": _what, "theirs": theirs, "ours": ours, "taken": taken,
        "text": _text, "number": number, "in_table": in_table,
    }  # fmt: skip
    pages: list[tuple[Paper, list[Section]]] = []
    for paper in papers:
        sections = [
            _section(name, of_campaign, campaigns, runs, output / name, analyze)
            for name, of_campaign in paper.campaigns.items()
        ]
        page = environment.get_template("paper.md.j2")
        of_all = [claim for section in sections for claim in section.claims]
        table = None if paper.table is None else table_of(paper.table, of_all)
        content = {"paper": paper, "sections": sections, "table": table}
        (output / f"{paper.name}.md").write_text(page.render(content))
        pages.append((paper, sections))
    summary = environment.get_template("summary.md.j2")
    every = [one for _, sections in pages for one in sections]
    there = [one.measured for one in every if one.measured is not None]
    content = {
        "pages": pages,
        "total": sum((one.cost for one in there), Cost()),
        "sensitivities": list(_sensitivities(every)),
    }
    (output / "README.md").write_text(summary.render(content))
    return output / "README.md", [one.name for one in every if one.has_less_complete_runs]


def _section(
    name: str, of_campaign: OfCampaign, campaigns: Path, runs: Path, record: Path, analyze: Analyze
) -> Section:
    """Return the campaign as its record has it, which new runs that are as complete replace."""
    there = read_record(record)
    checks = [check for claim in of_campaign.claims for check in claim.checks]
    new = measured(runs, name, checks, analyze)
    is_less = new is not None and there is not None and new.completeness < there.completeness
    if new is not None and not is_less:
        write_record(record, new)
        there = read_record(record)
    claims = tested(of_campaign.claims, there)
    about, figures = _about(campaigns, name), Figures([], [])
    if there is not None:
        _write_claims(record / "claims.csv", claims)
        plan = _plan(about, campaigns / f"{name}.yaml")
        figures = write_figures(record, there.runs, plan.figures, _no_table)
    return Section(name, about, of_campaign, there, claims, figures, is_less)


def _plan(about: dict[str, Any], file: Path) -> ReportPlan:
    try:
        return ReportPlan.model_validate(about.get("report") or {})
    except ValidationError as error:
        raise refused_file(error, ReportPlan, file, within="report") from None


def _no_table(run: str, _: tuple[str, ...]) -> pd.DataFrame:
    """Refuse to draw a figure from the tables of runs, which a record does not have."""
    raise TableMissing(run)


def _about(campaigns: Path, name: str) -> dict[str, Any]:
    file = campaigns / f"{name}.yaml"
    try:
        content: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise refusal(f"not YAML ({error})", "correct or quote the value", file=file) from None
    except OSError as error:
        raise refusal(
            error.strerror or str(error), "claims are about campaigns of this folder", file=file
        ) from None
    if not isinstance(content, dict):
        raise refusal("not a mapping", "write title, source and factors", file=file)
    return content


def _write_claims(path: Path, claims: list[Tested]) -> None:
    with path.open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(
            ["claim", "number", "theirs", "ours", "low", "high", "geometric_mean", "count",
             "observations", "cohen_dz", "p", "p_holm", "verdict"]
        )  # fmt: skip
        for claim in claims:
            for one in claim.outcomes:
                write.writerow(_fields(claim, one))


def _fields(claim: Tested, one: Outcome) -> list[object]:
    made = one.number
    interval = made.interval
    values = (None,) * 3 if interval is None else (interval.mean, interval.low, interval.high)
    precise = [_digits(value, 6) for value in (*values, made.geometric_mean)]
    counts = [interval.count if interval else 0, made.observations]
    tests = [_digits(value, 4) for value in (made.effect, made.p, one.p_holm)]
    what = _what(made.check, made.of, made.over)
    return [claim.claim.quote, what, theirs(made.check), *precise, *counts, *tests, one.verdict]


def _digits(value: float | None, count: int) -> str | None:
    return None if value is None else f"{value:.{count}g}"


@dataclass(frozen=True)
class Row:
    """A line of a claim's table."""

    what: str
    theirs: str
    ours: str
    statistics: str
    reason: str


def rows_of(claim: Tested) -> Iterator[Row]:
    """Yield the lines of the claim; a check with many numbers has one for all."""
    for check in claim.claim.checks:
        of_check = [one for one in claim.outcomes if one.number.check is check]
        one_for_all = check.each or check.against
        is_run = of_check[0].number.interval is not None
        if len(of_check) <= _SHOWN_EACH and (is_run or not one_for_all):
            yield from (_row(one) for one in of_check)
            continue
        yield _row_of_many(check, of_check)


def _row(one: Outcome) -> Row:
    reason = f"{one.verdict}: {one.reason}" if one.reason else one.verdict
    made = one.number
    values = ours(made.check, made.interval, made.geometric_mean)
    what = _what(made.check, made.of, made.over)
    return Row(what, theirs(made.check), values, _tests(one), reason)


def _row_of_many(check: Check, outcomes: list[Outcome]) -> Row:
    """Return the line of a check with many numbers: their range, and which do not hold."""
    known = [one.number.interval for one in outcomes if one.number.interval is not None]
    values = "not yet run"
    means = [interval.mean for interval in known if not math.isnan(interval.mean)]
    if means:
        ends = [number(one(means) * _how(check).scale) for one in (min, max)]
        values = f"{' to '.join(ends)}; n ≥ {min(one.count for one in known)}"
    others = "; ".join(_distinct(one, outcomes) for one in outcomes if one.verdict != "holds")
    held = sum(one.verdict == "holds" for one in outcomes)
    reason = f"{held} of {len(outcomes)} hold" + (f", not: {others}" if others else "")
    if not known:
        reason = "not yet run"
    at = {factor: labels for factor, labels in check.at.items() if factor != check.each}
    over = None if check.over is None else {**at, **check.over}
    levels = "".join(f" for each {factor}" for factor in (check.each, check.against) if factor)
    what = f"{_number_of(check)}: {_sides({**at, **check.of}, over)}{levels}"
    return Row(what, theirs(check), values, "", reason)


def _distinct(one: Outcome, outcomes: list[Outcome]) -> str:
    """Return the levels by which the number differs from the check's others."""
    names = [
        " or ".join(labels)
        for factor, labels in one.number.of.items()
        if any(each.number.of.get(factor) != labels for each in outcomes)
    ]
    against, over = one.number.check.against, one.number.over
    if over is not None and against is not None:
        names.append("over " + " or ".join(over[against]))
    return " ".join(names)


def _as_shown(check: Check) -> Shown:
    return shown(check.metric or (check.column.name if check.column else ""))


def _how(check: Check) -> Shown:
    how = _as_shown(check)
    if check.is_ratio:
        return Shown(how.label, "", 1.0)
    return how


def _what(check: Check, of: Labels, over: Labels | None) -> str:
    """Return what is compared, in words."""
    text = f"{_number_of(check)}: {_sides(of, over)}"
    other = check.divisor.column
    if check.over_part is not None and other is not None:
        flow = other.flow if "flow" in check.over_part else None
        times = _times(other) if check.over_part.keys() & {"from_s", "to_s"} else None
        text += " over " + " ".join(filter(None, [flow, times]))
    return text.strip(" :")


def _number_of(check: Check) -> str:
    how = _how(check)
    name = how.label
    if check.column is not None:
        wanted = check.column
        of_flow = f" of {wanted.flow}" if wanted.flow else ""
        beside = f" where {wanted.beside} has one" if wanted.beside else ""
        name = f"{how.label} {wanted.take}{of_flow}{beside}"
        name = ", ".join(filter(None, [name, _times(wanted)]))
    if check.less:
        name = f"{name} less {check.less * _as_shown(check).scale:g}"
    if check.extreme:
        name = f"{'greatest' if check.extreme == 'max' else 'least'} {name}"
    return f"{name} ({how.unit})" if how.unit else name


def _times(wanted: Column) -> str:
    """Return the part of the run in words; nothing for the whole."""
    until = "" if wanted.to_s == float("inf") else f" to {wanted.to_s:g}"
    return f"from {wanted.from_s:g}{until} s" if wanted.from_s or until else ""


def _sides(of: Labels, over: Labels | None) -> str:
    """Return the points in words: what both sides have in common first."""
    if over is None or over == of:
        return _levels(of)
    same = {factor: labels for factor, labels in of.items() if over.get(factor) == labels}
    above, below = ({k: v for k, v in one.items() if k not in same} for one in (of, over))
    return " ".join(filter(None, [_levels(same) + ":" if same else "", _levels(above), "over",
                                  _levels(below, names=set(above) != set(below))]))  # fmt: skip


def _levels(labels: Labels, *, names: bool = True) -> str:
    return ", ".join(
        f"{factor} {' or '.join(each)}" if names else " or ".join(each)
        for factor, each in labels.items()
    )


def taken(hours: float) -> str:
    """Return a time in words."""
    if hours >= 1:
        return f"{number(hours, 2)} h"
    return f"{hours * 60:.0f} min" if hours * 60 >= 1 else f"{hours * 3600:.0f} s"


def theirs(check: Check) -> str:
    """Return the paper's number, in the unit that people read."""
    scale = _how(check).scale
    if check.about is not None:
        return f"about {number(check.about * scale)}"
    if check.at_least is not None:
        return f"≥ {number(check.at_least * scale)}"
    if check.at_most is not None:
        return f"≤ {number(check.at_most * scale)}"
    assert check.between is not None
    return " to ".join(number(value * scale) for value in check.between)


def ours(check: Check, interval: Interval | None, geometric_mean: float | None = None) -> str:
    """Return our number with its interval, the number of runs or pairs, and for a ratio the
    geometric mean of the pairs."""
    if interval is None:
        return "not yet run"
    scale = _how(check).scale
    text = number(interval.mean * scale)
    if interval.alike:
        return f"{text}; n = {interval.count}, the same in each"
    between = bounds(interval.low, interval.high, scale)
    beside = "" if geometric_mean is None else f"; geometric mean {number(geometric_mean)}"
    return f"{text}{f' ({between})' if between else ''}; n = {interval.count}{beside}"


def in_table(one: Outcome | None) -> str:
    """Return a number of ours in few words: its interval and whether it holds."""
    if one is None:
        return ""
    interval = one.number.interval
    if interval is None:
        return "not yet run"
    scale = _how(one.number.check).scale
    between = "" if interval.alike else bounds(interval.low, interval.high, scale)
    verdict = {"holds": "**holds**", "direction only": "direction"}.get(one.verdict, one.verdict)
    return f"{number(interval.mean * scale)}{f' ({between})' if between else ''}, {verdict}"


def _tests(one: Outcome) -> str:
    if one.p_holm is None:
        return ""
    effect = "" if one.number.effect is None else f"{number(one.number.effect, 2)}; "
    return f"{effect}{number(one.p_holm, 2)}"


def _text(sentence: str) -> str:
    """Return the sentence as it may stand in a table of Markdown."""
    return " ".join(sentence.split()).replace("|", "\\|")


def _sensitivities(sections: list[Section]) -> Iterator[Sensitivity]:
    for section in sections:
        for claim in section.claims:
            if claim.claim.main and section.measured is not None:
                one = sensitivity(claim.claim, section.measured)
                if one is not None:
                    yield one
