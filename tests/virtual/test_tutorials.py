# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/tutorials, run as they stand there in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[2] / "docs/tutorials"
PAGES = sorted(page.stem for page in TUTORIALS.glob("own-*.md"))
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
EXPECTED = {
    "own-application": ["slowest of 10: "],
    "own-campaign": ["(nothing left)", "runs/campaign-buffers-quick/report/report.html"],
    "own-congestion-control": ["mine ", "Jain's index", "comparison/comparison.html"],
    "own-trace": ["next: ccu run --cc cubic --scenario ./train.yaml", "figure: train.svg"],
}
"""Texts that the commands of each page print, among others."""


def test_every_page_has_an_expectation() -> None:
    assert sorted(EXPECTED) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_tutorial_work(page: str, kernel: Path, tmp_path: Path) -> None:
    printed = ""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for language, file, content in _FENCE.findall((TUTORIALS / f"{page}.md").read_text()):
        if file:
            (tmp_path / file).write_text(content)
        elif language == "sh":
            ran = subprocess.run(
                ["bash", "-ec", content], cwd=tmp_path, env=environment, capture_output=True,
                text=True,
            )  # fmt: skip
            assert ran.returncode == 0, f"{content}\n{ran.stdout}\n{ran.stderr}"
            printed += ran.stdout
    missing = [text for text in EXPECTED[page] if text not in printed]
    assert not missing, f"{missing} in\n{printed}"
