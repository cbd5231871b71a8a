# SPDX-License-Identifier: Apache-2.0
"""A campaign's report from runs whose figures are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ddu.campaign import figures
from ddu.campaign import plan as plans
from ddu.campaign.load import load_campaign
from ddu.campaign.report import write_report
from ddu.console.problems import RefusedError
from ddu.report.templates import bounds, number
from testsupport.fsyncs import fsyncs
from testsupport.summaries import write_summary

REPORT: dict[str, Any] = {
    "metrics": ["throughput_bps", "rtt_ms.p95"],
    "compare": [{"factor": "cc", "baseline": "reno"}],
    "figures": [
        {"kind": "plane", "title": "A <plane>", "x": "rtt_ms.p95"},
        {"kind": "bars", "title": "Bars", "x": "prb", "y": "throughput_bps"},
        {"kind": "series", "title": "Series", "columns": ["tcp_throughput_bps"], "panels": ["prb"]},
        {"kind": "cdf", "title": "CDF", "columns": ["tcp_rtt_ms"]},
        {"kind": "scatter", "title": "Dots", "pairs": [["tcp_rtt_ms", "tcp_throughput_bps"]]},
    ],
    "reference": [
        {"where": {"cc": "cubic", "prb": "24"}, "metric": "throughput_bps", "value": 20e6,
         "source": "a paper"},
        {"where": {"cc": "cubic"}, "relative_to": {"cc": "reno"}, "metric": "throughput_bps",
         "value": 2.0, "source": "a paper"},
        {"where": {"cc": "vegas"}, "metric": "throughput_bps", "value": 1.0, "source": "a paper"},
    ],
}  # fmt: skip


def made(path: Path, report: dict[str, Any]) -> Path:
    """Two congestion controls by two widths by three seeds; cubic has 1.5 times reno's rate."""
    definition = {
        "name": "try", "profile": "quick", "title": "A try & <b>more</b>", "source": "us",
        "repeats": 3, "report": report,
        "factors": {"cc": {"reno": {}, "cubic": {}}, "prb": {"24": {}, "106": {}}},
    }  # fmt: skip
    content = {"schema_version": 1, "campaign": definition, "software": {"kernel": "6", "ccu": "0",
               "git_revision": "x", "nr-link": "0"}}  # fmt: skip
    path.mkdir()
    (path / "campaign.json").write_text(json.dumps(content))
    for cc, prb, seed in (
        (c, p, s) for c in ("reno", "cubic") for p in (24, 106) for s in range(3)
    ):
        cell = path / "runs" / f"cc={cc},prb={prb},seed={seed}"
        run = cell / "2026-run"
        (run / "tables").mkdir(parents=True)
        levels = {"cc": cc, "prb": str(prb)}
        (cell / "cell.json").write_text(json.dumps({"levels": levels, "repeat": 0, "seed": seed}))
        failed = (cc, prb, seed) == ("cubic", 106, 2)
        verdict = "invalid" if failed else "degraded" if seed == 1 else "valid"
        manifest = {"status": "finished", "verdict": verdict, "verdict_reasons": ["late"]}
        (run / "run.json").write_text(json.dumps(manifest))
        rate = prb * 1e6 * (1 + seed / 10) * (1.5 if cc == "cubic" else 1)
        write_summary(run, verdict, throughput_bps=rate, rtt_ms={"p95": 40.0 + seed})
        pd.DataFrame(
            {"t_s": [0.0, 0.5, 1.0], "flow": "f0", "tcp_throughput_bps": rate,
             "tcp_rtt_ms": [30.0, None, 50.0]}
        ).to_parquet(run / "tables" / "aligned.parquet")  # fmt: skip
    return path


def no_analysis(_runs: list[Path]) -> None:
    raise AssertionError("every run has its summary")


def test_the_tables_hold_what_was_measured(tmp_path: Path) -> None:
    page = write_report(made(tmp_path / "c", REPORT), no_analysis)
    points = pd.read_csv(page.parent / "points.csv").set_index(["cc", "prb"])
    reno = points.loc["reno", 24]
    assert reno["throughput_bps"] == pytest.approx(24e6 * 1.1)
    # Three values 10 % apart: Student's 4.3027 · 2.4e6 / √3.
    assert reno["throughput_bps.high"] - reno["throughput_bps"] == pytest.approx(5.962e6, rel=1e-3)
    assert (reno["runs"], reno["degraded"]) == (3, 1)
    # Standard deviation 1/11 of the mean: Student's 2.131 · 0.0909 / √16 = 0.0484, with 15: 0.0503.
    assert reno["repeats_needed"] == 16
    assert (points.loc["cubic", 106]["runs"], points.loc["cubic", 106]["without_result"]) == (2, 1)


def test_a_run_whose_analysis_failed_is_no_result(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", REPORT)
    broken = campaign / "runs" / "cc=reno,prb=24,seed=0" / "2026-run"
    (broken / "summary.json").unlink()
    page = write_report(campaign, lambda _: None)
    points = pd.read_csv(page.parent / "points.csv").set_index(["cc", "prb"])
    assert (points.loc["reno", 24]["runs"], points.loc["reno", 24]["without_result"]) == (2, 1)
    runs = pd.read_csv(page.parent / "runs.csv").set_index("run")
    assert runs.loc[str(broken.relative_to(campaign))]["verdict"] == "not analysed"


def test_samples_belong_to_the_bin_that_they_begin() -> None:
    t_s = np.arange(0, 600) * 0.02
    table = pd.DataFrame({"t_s": t_s, "flow": "f0", "tcp_rtt_ms": t_s})
    wanted = plans.Series(kind="series", title="x", columns=("tcp_rtt_ms",), bin_s=0.2)
    runs = pd.DataFrame({"run": ["one"], "verdict": ["valid"]})
    plot = figures._series(runs, wanted, "tcp_rtt_ms", lambda *_: table)
    (series,) = plot.series
    assert len(series.x) == 60
    assert series.y == pytest.approx(series.x + 0.09)


def test_comparisons_pair_seeds_and_leave_out_what_has_no_partner(tmp_path: Path) -> None:
    page = write_report(made(tmp_path / "c", REPORT), no_analysis)
    compared = pd.read_csv(page.parent / "comparisons.csv")
    rates = compared[compared["metric"] == "throughput_bps"].set_index("prb")
    assert list(rates["pairs"]) == [3, 2]
    assert rates.loc[24, "difference"] == pytest.approx(12e6 * 1.1)
    assert rates.loc[24, "p"] == pytest.approx(2 / 2**3)
    assert (rates["p_holm"] >= rates["p"]).all()


def test_the_sources_numbers_stand_beside_ours(tmp_path: Path) -> None:
    page = write_report(made(tmp_path / "c", REPORT), no_analysis)
    rows = pd.read_csv(page.parent / "reference.csv")
    assert rows.loc[0, "ours"] == pytest.approx(36e6 * 1.1)
    assert rows.loc[0, "difference_ratio"] == pytest.approx(36 * 1.1 / 20 - 1)
    # Of both widths where they have a result, per seed: 1.5, 1.5, and at 24 PRBs alone.
    assert rows.loc[1, "runs"] == 3
    assert pd.isna(rows.loc[2, "ours"])


def test_the_page_shows_all_figures_and_escapes_names(tmp_path: Path) -> None:
    page = write_report(made(tmp_path / "c", REPORT), no_analysis).read_text()
    assert page.count("<figure") == 5
    assert "<b>more</b>" not in page
    assert "A &lt;plane&gt;" in page
    text = (tmp_path / "c" / "report" / "report.md").read_text()
    assert "cc=cubic prb=106 seed=2: invalid, late" in text
    assert "+98 %" in text


def test_a_wrong_plan_is_told_by_its_key(tmp_path: Path) -> None:
    wrong = {"figures": [{"kind": "pie", "title": "x"}], "metric": []}
    with pytest.raises(
        RefusedError,
        match=r"(?s)report\.figures\.0.*pie.*report\.metric: unknown key\. Did you mean metrics",
    ):
        write_report(made(tmp_path / "c", wrong), no_analysis)
    assert not (tmp_path / "c" / "report").exists()


def test_a_report_is_on_disk_before_it_has_its_name(tmp_path: Path) -> None:
    campaign = made(tmp_path / "c", REPORT)
    with fsyncs() as done:
        write_report(campaign, no_analysis)
    written = [one for one in (campaign / "report").iterdir() if one.is_file()]
    assert {one.suffix for one in written} == {".csv", ".html", ".md"}
    for file in written:
        done.need_whole(file)


def test_no_campaign_and_a_newer_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="Give the directory that `ccu campaign run` printed"):
        load_campaign(tmp_path)
    path = made(tmp_path / "c", REPORT)
    file = path / "campaign.json"
    file.write_text(file.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    with pytest.raises(RefusedError, match="schema_version 2"):
        load_campaign(path)


def test_numbers_keep_three_digits() -> None:
    assert [number(value) for value in (0.012345, 1.2345, 123.45, 12345.6, None, 0)] == [
        "0.0123", "1.23", "123", "12,346", "n/a", "0",
    ]  # fmt: skip


def test_an_interval_without_width_or_bounds_is_told_in_words_or_not_at_all() -> None:
    assert bounds(0.5, 0.75, 100) == "50.0 … 75.0"
    assert bounds(0.1, 0.1 + 1e-12) == bounds(0, 0) == "the same in each"
    assert bounds(None, None) == ""


def test_a_figure_of_a_number_that_runs_lack_is_left_out(tmp_path: Path) -> None:
    """UDP has no RTT, and one run of many may lack it."""
    planes = [
        {"kind": "plane", "title": "of all", "colour": "cc", "x": "rtt_ms.mean"},
        {"kind": "plane", "title": "of some", "colour": "cc", "x": "rtt_ms.p95"},
    ]
    path = made(tmp_path / "c", {**REPORT, "figures": planes})
    summary = next(path.glob("runs/cc=cubic,prb=24,seed=0/*/summary.json"))
    content = json.loads(summary.read_text())
    summary.write_text(json.dumps({**content, "rtt_ms": {"p95": None}}))
    write_report(path, no_analysis)
    (drawn,) = sorted(file.name for file in (path / "report" / "figures").glob("*.svg"))
    assert "cubic" in (path / "report" / "figures" / drawn).read_text()
