# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/tutorials and of the pages on why, run as they stand there in an empty
folder."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from testsupport.prepared import programs_in

DOCS = Path(__file__).parents[2] / "docs"
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
EXPECTED = {
    "tutorials/own-application": ["slowest of 10: "],
    "tutorials/own-campaign": ["(nothing left)", "runs/campaign-buffers-quick/report/report.html"],
    "tutorials/own-congestion-control": ["mine ", "Jain's index", "comparison/comparison.html"],
    "tutorials/own-trace": [
        "next: ccu run --cc cubic --scenario ./commute.yaml",
        "figure: commute.svg",
    ],
    "why": ["mostly: behind others in the RLC queue"],
    "bound": ["runs/campaign-bound-quick/report/report.html"],
    "changes": ["compared/comparison.html"],
    "recipes": ["identical: figures/timeline.svg and the raw data of 1 run"],
    "mac-pcap": ["(Short BSR LCG ID=0 BS=", "MAC-NR", "DL-SCH"],
}
"""Texts that the commands of each page print, among others."""
DRAWN = {"changes": {"compared/figures/parting-0.svg": "cc=bbr"}}
"""Texts in figures that they draw."""


def test_every_page_has_an_expectation() -> None:
    tutorials = {f"tutorials/{page.stem}" for page in (DOCS / "tutorials").glob("own-*.md")}
    assert tutorials <= set(EXPECTED)


@pytest.mark.parametrize("page", EXPECTED)
def test_the_commands_of_a_tutorial_work(page: str, kernel: Path, tmp_path: Path) -> None:
    printed = ""
    programs, descriptor = programs_in(tmp_path / "bin")
    empty = tmp_path / "empty"
    empty.mkdir()
    for language, file, content in _FENCE.findall((DOCS / f"{page}.md").read_text()):
        if file:
            (empty / file).write_text(content)
        elif language == "sh":
            ran = subprocess.run(
                ["bash", "-ec", content], cwd=empty, env=os.environ | programs,
                pass_fds=[descriptor], capture_output=True, text=True,
            )  # fmt: skip
            assert ran.returncode == 0, f"{content}\n{ran.stdout}\n{ran.stderr}"
            printed += ran.stdout
    missing = [text for text in EXPECTED[page] if text not in printed]
    assert not missing, f"{missing} in\n{printed}"
    for figure, text in DRAWN.get(page, {}).items():
        assert text in (empty / figure).read_text()
