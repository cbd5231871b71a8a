# SPDX-License-Identifier: Apache-2.0
"""A published campaign is made again, and what differs is named by run, column and page."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from testsupport.prepared import command

CAMPAIGN = {
    "title": "Short", "source": "A paper, figure 1", "differs": ["It is short."],
    "base": {"testbed": "virtual", "prb": 24, "scenario": "static", "duration": "1s"},
    "factors": {"cc": ["cubic", "reno"]}, "repeats": 1, "keep": "summary",
    "profiles": {"quick": {}},
    "report": {
        "metrics": ["throughput_bps"],
        "figures": [{"kind": "bars", "title": "Bars", "x": "cc", "y": "rtt_ms.p95"}],
    },
}  # fmt: skip
CHECK = {"metric": "throughput_bps", "each": "cc", "at_least": 1e6, "heading": "1: Mbit/s"}
CLAIM = {"quote": "it is fast", "section": "section 1", "checks": [CHECK]}
PAPER = {
    "title": "A paper", "cite": "Somebody, 2020", "table": "cc",
    "campaigns": {"short": {"shows": "A figure.", "claims": [CLAIM]}},
}  # fmt: skip


@pytest.fixture(scope="module")
def published(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign of two runs, its claims and its pages."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "campaigns/claims").mkdir(parents=True)
    (folder / "campaigns/short.yaml").write_text(json.dumps(CAMPAIGN))
    (folder / "campaigns/claims/paper.yaml").write_text(json.dumps(PAPER))
    for words in (
        ("ccu", "campaign", "run", "campaigns/short.yaml"),
        ("ddu", "reproductions", "--output", "pages"),
    ):
        ran = command(*words, folder=folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def _verified(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return command("ccu", "campaign", "verify", "short", "--pages", "pages", *more, folder=folder)


def test_a_published_campaign_comes_out_identical(published: Path) -> None:
    verified = _verified(published)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "short, profile quick: 2 of 2 runs" in verified.stdout
    assert "identical: cc=cubic seed=1 (3 columns)" in verified.stdout
    assert "identical: 2 runs, and all pages, tables and figures" in verified.stdout


def test_a_sample_names_the_column_and_the_files_that_differ(published: Path) -> None:
    runs, page = published / "pages/short/runs.csv", published / "pages/paper.md"
    table, text = pd.read_csv(runs), page.read_text()
    try:
        table["throughput_bps"] += 1
        table.to_csv(runs, index=False)
        page.write_text(text.replace("it is fast", "it is slow"))
        verified = _verified(published, "--sample", "1", "--seed", "2")
    finally:
        table["throughput_bps"] -= 1
        table.to_csv(runs, index=False)
        page.write_text(text)
    assert verified.returncode == 1
    assert verified.stdout.count("throughput_bps: ") == 1
    assert "not identical: pages/paper.md" in verified.stdout
    assert "not identical: pages/short/runs.csv" in verified.stdout
    assert "not identical: 1 of 1 runs" in verified.stdout


def test_the_table_of_a_page_has_each_level(published: Path) -> None:
    page = (published / "pages/paper.md").read_text()
    assert "| figure, number | theirs | cubic | reno |" in page
    assert "| 1: Mbit/s | ≥ 1.00 | " in page


def test_a_campaign_without_a_record_is_refused(published: Path) -> None:
    refused = command("ccu", "campaign", "verify", "other", "--pages", "pages", folder=published)
    assert refused.returncode == 2
    assert "has no record of the campaign other" in refused.stderr
