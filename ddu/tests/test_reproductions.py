# SPDX-License-Identifier: Apache-2.0
"""Claims of papers: their files, verdicts, and pages of runs whose numbers are known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from pydantic import ValidationError
from typer.testing import CliRunner

from ddu.cli.main import app
from ddu.console.problems import RefusedError
from ddu.report.templates import number
from ddu.reproductions.claims import Check, Claim, Column, read_papers
from ddu.reproductions.measured import Cost, Measured
from ddu.reproductions.of_runs import number_of
from ddu.reproductions.outcomes import balanced, sensitivity
from ddu.reproductions.outcomes import tested as claims_tested
from ddu.reproductions.pages import ours
from ddu.reproductions.table import table_of
from ddu.reproductions.verdicts import Agreement, Evidence, judge, together
from ddu.statistics import Interval, equivalence, geometric_mean, of_repeats, ratio
from testsupport.summaries import write_summary

RATIO = {"metric": "rtt_ms.p95", "of": {"cc": "cubic"}, "over": {"cc": "reno"}}
CLAIMS = """
title: A paper
cite: Somebody, 2020
campaigns:
  short:
    shows: A figure.
    claims:
      - quote: CUBIC has twice the RTT | of Reno
        section: section 1
        main: true
        checks:
          - {metric: rtt_ms.p95, of: {cc: cubic}, over: {cc: reno}, about: 2}
          - {metric: throughput_bps, each: cc, at_least: 10.0e+6}
      - quote: its throughput halves after 1 s
        section: section 2
        checks:
          - column: {name: tcp_throughput_bps, from_s: 1}
            of: {cc: cubic}
            at_most: 6.0e+6
      - quote: it is green
        section: section 3
        untestable: A colour is not measured.
"""


def _interval(mean: float, low: float | None, high: float | None, count: int = 20) -> Interval:
    return Interval(mean, low, high, count, "")


def _verdict(
    rule: dict[str, object], measured: tuple, p: float | None = None, observations: int = 20
) -> str:
    check = Check.model_validate(rule)
    return judge(check, Evidence(_interval(*measured), observations, p))[0]


@pytest.mark.parametrize(
    ("rule", "measured", "p", "verdict"),
    [
        ({"about": 2}, (2.1, 1.8, 2.4), 0.01, "holds"),
        ({"about": 2}, (2.1, 1.8, 2.4), 0.06, "undecided"),  # Holm's correction decides.
        ({"about": 2}, (2.1, 1.8, 2.4), None, "undecided"),
        ({"about": 2}, (3.0, 2.8, 3.2), 0.01, "direction only"),
        ({"about": 2}, (1.2, 1.1, 1.3), 0.06, "does not hold"),
        ({"about": 2}, (1.2, 0.7, 1.7), 0.5, "undecided"),  # The interval reaches the number.
        ({"about": 2}, (0.5, 0.4, 0.6), 0.01, "opposite"),
        ({"about": 2}, (0.9, 0.1, 1.7), 0.9, "undecided"),
        ({"about": 0.5}, (0.7, 0.65, 0.75), 0.01, "direction only"),
        ({"at_least": 2}, (5.0, 4.0, 6.0), 0.01, "holds"),
        ({"at_least": 2}, (1.99, 1.98, 1.999), 0.01, "direction only"),  # A limit is one.
        ({"at_most": 0.95}, (0.9, 0.8, 1.1), 0.3, "undecided"),
        ({"between": [1.05, 1.5]}, (1.2, 1.1, 1.3), 0.01, "holds"),
    ],
)
def test_the_verdict_on_an_effect(
    rule: dict[str, object], measured: tuple, p: float | None, verdict: str
) -> None:
    assert _verdict({**RATIO, **rule}, measured, p) == verdict


@pytest.mark.parametrize(
    ("measured", "p", "verdict"),
    [
        ((1.05, 1.02, 1.08), 0.01, "holds"),
        ((1.05, 0.7, 1.4), 0.4, "undecided"),  # That nothing is seen does not show equality.
        ((1.2, 1.15, 1.25), 0.9, "does not hold"),
    ],
)
def test_the_same_needs_two_one_sided_tests(measured: tuple, p: float, verdict: str) -> None:
    assert _verdict({**RATIO, "about": 1, "tolerance": 0.1}, measured, p) == verdict


def test_equality_is_tested_against_the_margin() -> None:
    below = [30.0 + seed for seed in range(8)]
    above = [value * (1.0 + 0.01 * (-1) ** seed) for seed, value in enumerate(below)]
    for margin, is_within in ((0.1, True), (0.005, False)):
        p = equivalence(above, below, 1 - margin, 1 + margin)
        assert p is not None
        assert (p <= 0.05) is is_within
    shifted = [1.2 * value for value in above]
    assert equivalence(shifted, below, 0.9, 1.1) == pytest.approx(1, abs=1e-3)
    assert equivalence([1.0], [1.0], 0.9, 1.1) is None


@pytest.mark.parametrize(
    ("rule", "measured", "verdict"),
    [
        ({"about": 30}, (35.0, 34.0, 36.0), "holds"),
        ({"about": 30}, (37.0, 35.0, 39.0), "undecided"),
        ({"about": 30}, (40.0, 39.0, 41.0), "does not hold"),
        ({"at_most": -45}, (-46.0, -46.5, -45.5), "holds"),
        ({"at_most": -45}, (-45.1, -46.5, -43.5), "undecided"),
        ({"at_least": -60}, (-61.0, -61.5, -60.5), "does not hold"),
        ({"at_least": -60}, (-50.0, None, None), "undecided"),
    ],
)
def test_the_verdict_on_a_number(rule: dict[str, object], measured: tuple, verdict: str) -> None:
    assert _verdict({"metric": "rtt_ms.mean", **rule}, measured) == verdict


@pytest.mark.parametrize("rule", [{"about": 35}, {"at_most": 40}])
def test_one_observation_has_no_verdict(rule: dict[str, object]) -> None:
    """Neither one run, nor runs that are the same for each seed."""
    rule = {"metric": "rtt_ms.mean", **rule}
    assert _verdict(rule, (35.0, 35.0, 35.0), observations=1) == "undecided"
    assert _verdict(rule, (35.0, 35.0, 35.0), observations=2) == "holds"


def test_runs_that_are_the_same_are_one_observation() -> None:
    table = {
        "cc": ["cubic"] * 3 + ["reno"] * 3, "seed": [1, 2, 3] * 2, "verdict": "valid",
        "run": [f"runs/{index}" for index in range(6)], "goodput_bps": [5.0] * 6,
        "rtt_ms.mean": [30.0, 30.0, 30.0, 31.0, 32.0, 31.0],
    }  # fmt: skip
    runs = Measured(
        "quick", {"cc": ["cubic", "reno"]}, 6, 0, True, None, "x", False, Cost(),
        pd.DataFrame(table),
    )  # fmt: skip
    assert runs.observations({"cc": ("cubic",)}) == 1
    assert runs.observations({"cc": ("reno",)}) == 2
    assert runs.observations({}) == 2
    assert runs.observations({"cc": ("bbr",)}) == 0


def test_the_geometric_mean_is_of_the_pairs() -> None:
    assert geometric_mean([2.0, 8.0], [1.0, 1.0]) == pytest.approx(4)
    assert geometric_mean([0.0, 8.0], [1.0, 1.0]) is None
    assert geometric_mean([1.0, 8.0], [0.0, 1.0]) is None


def test_a_number_that_is_the_same_in_each_run_says_so_of_itself() -> None:
    """Not of the runs: no loss in each of five does not mean that these were alike."""
    check = Check.model_validate({"metric": "retransmissions_count", "at_most": 1})
    assert ours(check, of_repeats([0.0] * 5)) == "0; n = 5, the same in each"
    ratios = Check.model_validate({**RATIO, "about": 2})
    pairs = ratio([60.0, 62.0, 64.0], [30.0, 31.0, 32.0])
    assert ours(ratios, pairs) == "2.00; n = 3, the same in each"
    assert ours(check, of_repeats([0.0])) == "0; n = 1"


def test_links_of_all_scenarios_count_alike() -> None:
    seeds = [(seed, "walking") for seed in (3, 1, 2)] + [(seed, "driving") for seed in range(1, 9)]
    index = pd.MultiIndex.from_tuples(seeds, names=["seed", "scenario"])
    links = balanced(pd.Series([1.0] * 3 + [5.0] * 8, index=index))
    assert links.mean() == 3
    assert sorted(links.index) == [(s, each) for s in (1, 2, 3) for each in ("driving", "walking")]
    alone = pd.Series([1.0, 2.0], index=pd.Index([1, 2], name="seed"))
    assert balanced(alone) is alone


@pytest.mark.parametrize(("claimed", "verdict"), [(2.9, "holds"), (4.0, "does not hold")])
def test_up_to_is_about_the_greatest_pair(claimed: float, verdict: str) -> None:
    rows = pd.DataFrame(
        {"cc": ["cubic"] * 3 + ["reno"] * 3, "seed": [1, 2, 3] * 2,
         "rtt_ms.p95": [20.0, 90.0, 44.0, 20.0, 30.0, 22.0]}
    )  # fmt: skip
    runs = Measured("quick", {"cc": ["cubic", "reno"]}, 6, 0, True, None, "x", False, Cost(), rows)
    check = {**RATIO, "about": claimed, "extreme": "max"}
    claim = Claim.model_validate({"quote": "up to", "section": "1", "checks": [check]})
    (outcome,) = claims_tested([claim], runs)[0].outcomes
    assert outcome.number.interval is not None
    assert outcome.number.interval.mean == 3.0
    assert (outcome.verdict, outcome.p_holm) == (verdict, None)
    varied = sensitivity(claim.model_copy(update={"main": True}), runs)
    assert varied is not None
    assert varied.every.mean == 3.0
    assert [(part, one.mean) for part, one in varied.parts] == [
        ("odd seeds", 2.0), ("even seeds", 3.0),
    ]  # fmt: skip


def test_up_to_of_a_ratio_over_nothing_is_no_number() -> None:
    rows = pd.DataFrame(
        {
            "cc": ["cubic"] * 2 + ["reno"] * 2,
            "seed": [1, 2] * 2,
            "rtt_ms.p95": [20.0, 90.0, 0.0, 3.0],
        }
    )
    runs = Measured("quick", {"cc": ["cubic", "reno"]}, 4, 0, True, None, "x", False, Cost(), rows)
    check = {**RATIO, "about": 2.0, "extreme": "max"}
    claim = Claim.model_validate({"quote": "up to", "section": "1", "checks": [check]})
    (outcome,) = claims_tested([claim], runs)[0].outcomes
    assert (outcome.number.interval, outcome.number.missing) == (None, "a divisor is 0")


def test_a_table_has_the_numbers_with_a_heading_by_level() -> None:
    rows = pd.DataFrame({"cc": ["a", "a", "b", "b"], "seed": [1, 2, 1, 2], "verdict": "valid",
                         "throughput_bps": [1e6, 2e6, 8e6, 9e6]})  # fmt: skip
    runs = Measured("quick", {"cc": ["a", "b"]}, 4, 0, True, None, "x", False, Cost(), rows)
    fast = {"heading": "1", "metric": "throughput_bps", "each": "cc", "at_least": 1e5}
    one = {"heading": "2", "metric": "throughput_bps", "of": {"cc": "b"}, "at_least": 1e9}
    unnamed = {"metric": "throughput_bps", "each": "cc", "at_least": 1e5}
    content = {"quote": "q", "section": "1", "checks": [fast, one, unnamed]}
    table = table_of("cc", claims_tested([Claim.model_validate(content)], runs))
    assert table.levels == ("a", "b")
    assert [line.check.heading for line in table.lines] == ["1", "2"]
    assert table.lines[1].of_level[0] is None
    assert table.held == ((0, 1), (1, 2))


def test_an_infinite_number_is_shown() -> None:
    assert [number(each) for each in (float("inf"), -float("inf"), float("nan"))] == [
        "∞",
        "-∞",
        "n/a",
    ]


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "does not hold"], "holds in part"),
        (["holds", "direction only"], "holds in part"),
        (["holds", "opposite"], "does not hold"),
        (["holds", "does not hold", "direction only"], "does not hold"),  # Less than half.
        (["direction only"], "does not hold"),
        (["holds", "undecided", "does not hold"], "undecided"),
        (["undecided", "undecided"], "undecided"),
        (["undecided", "does not hold", "does not hold"], "does not hold"),
        (["undecided", "opposite"], "does not hold"),
        (["holds", "not yet run"], "not yet run"),
        ([], "not yet run"),
    ],
)
def test_a_claim_is_judged_by_its_numbers(numbers: list[Agreement], verdict: str) -> None:
    assert together(numbers) == verdict


def test_of_alternatives_one_suffices() -> None:
    assert together(["holds", "opposite"], one_suffices=True) == "holds"
    assert together(["undecided", "opposite"], one_suffices=True) == "undecided"
    assert together(["direction only"], one_suffices=True) == "does not hold"


def _folders(tmp_path: Path, claims: str = CLAIMS) -> Path:
    """Make a campaign of two congestion controls and 12 seeds; cubic has twice reno's RTT."""
    campaigns = tmp_path / "campaigns"
    (campaigns / "claims").mkdir(parents=True)
    (campaigns / "claims" / "paper.yaml").write_text(claims)
    report = {
        "metrics": ["throughput_bps"],
        "figures": [
            {"kind": "bars", "title": "Bars", "x": "cc", "y": "rtt_ms.p95"},
            {"kind": "series", "title": "Rates", "columns": ["tcp_throughput_bps"]},
        ],
    }
    (campaigns / "short.yaml").write_text(
        "title: A short one\nsource: A paper, figure 1\ndiffers: [Ours is shorter.]\n"
        f"report: {json.dumps(report)}\n"
    )
    definition = {
        "name": "short", "profile": "quick", "title": "A short one", "source": "",
        "differs": [], "repeats": 12, "base": {"testbed": "virtual"},
        "factors": {"cc": {"reno": {}, "cubic": {}}},
        "report": report,
    }  # fmt: skip
    path = tmp_path / "runs" / "campaign-short-quick"
    path.mkdir(parents=True)
    software = {"kernel": "6", "ccu": "0", "nr-link": "0"}
    software |= {"git_revision": "x", "git_modified": False}
    content = {"schema_version": 1, "campaign": definition, "software": software}
    (path / "campaign.json").write_text(json.dumps(content))
    for cc in ("reno", "cubic"):
        for seed in range(1, 13):
            run = path / "runs" / f"cc={cc},seed={seed}" / "2026-run"
            (run / "tables").mkdir(parents=True)
            cell = {"levels": {"cc": cc}, "repeat": seed - 1, "seed": seed}
            (run.parent / "cell.json").write_text(json.dumps(cell))
            cost = {"wall_s": 800.0, "cpu_s": 800.0, "analysis_cpu_s": 100.0}
            manifest = {"status": "finished", "verdict": "valid", "cost": cost}
            (run / "run.json").write_text(json.dumps(manifest))
            rtt_ms = (20.0 + seed) * (2 if cc == "cubic" else 1) + seed % 2
            rate_bps = 11e6 - 0.1e6 * seed
            write_summary(run, throughput_bps=rate_bps, rtt_ms={"p95": rtt_ms})
            rates = [11e6, 11e6, 5.5e6, 5.0e6 + seed * 1e5]
            pd.DataFrame(
                {"t_s": [0.0, 0.5, 1.0, 1.5], "flow": "f0", "tcp_throughput_bps": rates}
            ).to_parquet(run / "tables" / "aligned.parquet")
    return campaigns


def _invoked(tmp_path: Path, campaigns: Path, runs: str = "runs") -> Result:
    output = tmp_path / "pages"
    arguments = ["--runs", tmp_path / runs, "--campaigns", campaigns, "--output", output]
    return CliRunner().invoke(app, ["reproductions", *map(str, arguments)])


def _written(tmp_path: Path, campaigns: Path, runs: str = "runs") -> Path:
    done = _invoked(tmp_path, campaigns, runs)
    assert done.exit_code == 0, done.output
    return tmp_path / "pages"


def _texts(pages: Path) -> dict[str, str]:
    return {str(file.relative_to(pages)): file.read_text() for file in pages.rglob("*.*")}


def test_a_campaign_that_is_not_complete_says_so(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    for run in (tmp_path / "runs").glob("*/runs/cc=cubic,seed=[34]"):
        shutil.rmtree(run)
    page = (_written(tmp_path, campaigns) / "paper.md").read_text()
    assert "22 of at most 24 runs, 5.5 h of one core" in page.replace("\n", " ")


def test_runs_that_another_campaign_made_cost_nothing(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    for file in (tmp_path / "runs").glob("*/runs/cc=cubic*/*/run.json"):
        content = json.loads(file.read_text()) | {"shared_from": "campaign-other/runs/x/2026-run"}
        file.write_text(json.dumps(content))
    output = _written(tmp_path, campaigns)
    page = (output / "paper.md").read_text().replace("\n", " ")
    assert "24 runs, of which other campaigns share 12, 3.0 h of one core" in page
    assert "Together 12 runs took 3.0 h" in (output / "README.md").read_text()


def test_the_pages_have_numbers_verdicts_and_figures(tmp_path: Path) -> None:
    output = _written(tmp_path, _folders(tmp_path))
    page = (output / "paper.md").read_text()
    assert "CUBIC has twice the RTT \\| of Reno” (section 1). **Holds**" in page
    # Means over twelve seeds: 2 · 26.5 + 0.5 over 26.5 + 0.5.
    assert f"about 2.00 | {53.5 / 27:.2f} (" in page
    assert "n = 12; geometric mean 1.98" in page
    assert "**cannot be tested here**: A colour is not measured." in page
    assert "![Bars](short/01-bars.svg)" in page
    assert "`ddu campaign report runs/campaign-short-quick` also draws: Rates." in page
    assert "- Ours is shorter." in page
    assert "6.0 h of one core, on the testbed virtual, at revision `x`." in page
    assert (output / "short" / "01-bars.svg").exists()
    runs = pd.read_csv(output / "short" / "runs.csv")
    assert runs["run"][0].startswith("runs/cc=")
    claims = pd.read_csv(output / "short" / "claims.csv")
    assert claims["ours"][0] == pytest.approx(53.5 / 27, rel=1e-5)
    # Two numbers of throughput and one of a part of the run: 5.5 and 5.65 Mbit/s.
    assert claims["ours"][3] == pytest.approx(5.575e6)


def test_the_summary_counts_verdicts_and_shows_sensitivity(tmp_path: Path) -> None:
    text = (_written(tmp_path, _folders(tmp_path)) / "README.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| [short](paper.md)"))
    cells = row.split("|")[3:]
    disk_mb = float(cells.pop(3))
    assert cells == [
        " quick ",
        " 24 ",
        " 6.0 h ",
        " 3 ",
        " 2 ",
        "  ",
        "  ",
        "  ",
        " 1 ",
        "  ",
        " 4 of 4 ",
        "",
    ]
    assert disk_mb > 0
    assert "Together 24 runs took 6.0 h of one core, 4.00 runs an hour" in text
    assert "odd seeds: " in text


def test_a_check_with_many_numbers_has_one_line(tmp_path: Path) -> None:
    """Its range, and which of them do not hold; without runs, that there are none."""
    seeds = range(1, 11)
    many = "at: {cc: cubic}, each: seeds, over: {cc: reno}, at_least: 2.1}"
    claims = CLAIMS.replace("about: 2}", f"{many}")
    campaigns = _folders(tmp_path, claims.replace("of: {cc: cubic}, over: {cc: reno}, ", "", 1))
    folder = tmp_path / "runs" / "campaign-short-quick"
    content = json.loads((folder / "campaign.json").read_text())
    content["campaign"]["factors"]["seeds"] = {str(seed): {} for seed in seeds}
    (folder / "campaign.json").write_text(json.dumps(content))
    for file in list(folder.glob("runs/*/cell.json")):
        cell = json.loads(file.read_text())
        for seed in seeds:
            copy = file.parent.with_name(f"{file.parent.name},seeds={seed}")
            shutil.copytree(file.parent, copy)
            cell["levels"]["seeds"] = str(seed)
            (copy / "cell.json").write_text(json.dumps(cell))
            times = (2.0 if seed < 10 else 2.5) if cell["levels"]["cc"] == "cubic" else 1.0
            rtt = times * (1 + 0.01 * cell["seed"])
            write_summary(copy / "2026-run", throughput_bps=11e6, rtt_ms={"p95": rtt})
        shutil.rmtree(file.parent)
    page = (_written(tmp_path, campaigns) / "paper.md").read_text()
    assert "| RTT p95: cc cubic over reno for each seeds | ≥ 2.10 | 2.00 to 2.50; n ≥ 12 |" in page
    assert "1 of 10 hold, not: 1; 2; 3; 4; 5; 6; 7; 8; 9 |" in page


def test_a_campaign_without_runs_is_not_yet_run(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    (tmp_path / "runs" / "campaign-short-quick" / "campaign.json").unlink()
    output = _written(tmp_path, campaigns)
    assert (
        "Not yet run: `ccu campaign run short --profile full`" in (output / "paper.md").read_text()
    )
    assert not (output / "short").exists()


def test_levels_that_a_profile_has_not_are_not_yet_run(tmp_path: Path) -> None:
    claims = CLAIMS.replace("each: cc, at_least", "at: {cc: [vegas]}, each: cc, at_least")
    page = (_written(tmp_path, _folders(tmp_path, claims)) / "paper.md").read_text()
    assert "of Reno” (section 1). **Not yet run**" in page


def test_a_profile_without_a_run_of_each_point_is_not_shown(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    quick = tmp_path / "runs" / "campaign-short-quick"
    full = tmp_path / "runs" / "campaign-short-full"
    (full / "runs").mkdir(parents=True)
    content = json.loads((quick / "campaign.json").read_text())
    content["campaign"]["profile"] = "full"
    (full / "campaign.json").write_text(json.dumps(content))
    cell = "runs/cc=reno,seed=1"
    (quick / cell).rename(full / cell)
    assert "Profile `quick`" in (_written(tmp_path, campaigns) / "paper.md").read_text()


def test_pages_need_only_the_records(tmp_path: Path) -> None:
    """Also where a level has a name that tables elsewhere take for a missing value."""
    campaigns = _folders(tmp_path, CLAIMS.replace("cc: reno", "cc: none"))
    for file in (tmp_path / "runs").rglob("*.json"):
        file.write_text(file.read_text().replace('"reno"', '"none"'))
    before = _texts(_written(tmp_path, campaigns))
    assert "**Holds**" in before["paper.md"]
    assert _texts(_written(tmp_path, campaigns, "nothing")) == before


def test_a_record_of_more_runs_is_kept(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    before = _texts(_written(tmp_path, campaigns))
    run = tmp_path / "runs" / "campaign-short-quick" / "runs" / "cc=cubic,seed=4"
    shutil.move(run, tmp_path / "away")
    done = _invoked(tmp_path, campaigns)
    assert "short: keeps its record of more runs; delete" in done.output
    assert _texts(tmp_path / "pages") == before
    shutil.move(tmp_path / "away", run)
    for summary in run.rglob("summary.json"):
        summary.write_text(summary.read_text().replace('"p95": 48', '"p95": 480'))
    assert _texts(_written(tmp_path, campaigns)) != before


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    campaigns = _folders(tmp_path)
    record = _written(tmp_path, campaigns) / "short" / "record.json"
    record.write_text(record.read_text()[:40])
    done = _invoked(tmp_path, campaigns)
    assert done.exit_code != 0
    assert isinstance(done.exception, RefusedError)
    assert "short/record.json: not a record of a campaign (JSONDecodeError" in str(done.exception)


@pytest.mark.parametrize(
    ("old", "new", "printed"),
    [
        ("about: 2}", "abuot: 2}", "claims.0.checks.0.abuot: unknown key"),
        ("about: 2}", "about: 2, at_least: 1}", "has not one rule"),
        ("rtt_ms.p95", "rtt_ms.p59", "no metric 'rtt_ms.p59'. Did you mean"),
        ("tcp_throughput_bps", "tcp_thruput_bps", "no column 'tcp_thruput_bps'"),
        ("        section: section 3\n", "", "claims.2.section: is missing"),
        ("untestable: A colour is not measured.", "note: x", "has no verdict"),
        (
            "untestable: A colour is not measured.",
            "untestable: A colour is not measured.\n        main: true",
            "is a main claim without a number",
        ),
    ],
)
def test_a_wrong_claim_is_refused(tmp_path: Path, old: str, new: str, printed: str) -> None:
    campaigns = _folders(tmp_path, CLAIMS.replace(old, new))
    with pytest.raises(RefusedError) as refused:
        read_papers(campaigns / "claims")
    assert printed in str(refused.value)
    assert "paper.yaml" in str(refused.value)


def test_a_folder_without_claims_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"has no claims\. Go to a checkout .* --campaigns"):
        read_papers(tmp_path)


def test_a_column_that_a_run_lacks_is_nonumber_of(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    table = pd.DataFrame({"t_s": [0.0], "flow": ["f0"], "tcp_rtt_ms": [30.0]})
    table.to_parquet(tmp_path / "tables" / "aligned.parquet")
    assert number_of(tmp_path, Column(name="tcp_rtt_ms", take="mean")) == 30
    assert np.isnan(number_of(tmp_path, Column(name="tcp_cwnd_bytes", take="mean")))


def test_a_column_beside_a_flow_leaves_out_where_that_one_is_silent(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    table = pd.DataFrame(
        {
            "t_s": [0.0, 0.0, 1.0, 1.0, 2.0, 2.0],
            "flow": ["f0", "f1"] * 3,
            "tcp_rtt_ms": [30.0, 32.0, 90.0, None, None, 10.0],
        }
    )
    table.to_parquet(tmp_path / "tables" / "aligned.parquet")
    assert number_of(tmp_path, Column(name="tcp_rtt_ms", flow="f0")) == 60
    assert number_of(tmp_path, Column(name="tcp_rtt_ms", flow="f0", beside="f1")) == 30
    assert number_of(tmp_path, Column(name="tcp_rtt_ms", flow="f1", beside="f0")) == 32


def test_a_ratio_to_another_part_of_a_column() -> None:
    written = {"name": "tcp_throughput_bps", "flow": "f0", "from_s": 50}
    check = Check.model_validate(
        {"column": written, "over_part": {"from_s": 0, "to_s": 50}, "about": 1}
    )
    assert check.divisor.number == "tcp_throughput_bps mean f0 0 to 50 s"
    assert check.is_ratio
    with pytest.raises(ValidationError, match="form_s"):
        Check.model_validate({"column": written, "over_part": {"form_s": 0}, "about": 1})
