# SPDX-License-Identifier: Apache-2.0
"""A recipe makes a figure again, elsewhere, and says whether it is identical."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testsupport.prepared import command
from testsupport.runs import Runs

ROOT = Path(__file__).parents[2]
SHORT = ("--prb", "24", "--scenario", "static", "--duration", "1s")


@pytest.fixture
def recipe(experiments: Runs, tmp_path: Path) -> Path:
    """The recipe of a table of a run."""
    run = experiments.analysed("--cc", "cubic", *SHORT)
    made = command("ccu", "recipe", run / "tables/aligned.parquet", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    return tmp_path / "aligned.parquet.recipe"


def test_a_table_comes_out_identical_in_another_folder(recipe: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    verified = command("ccu", "verify", recipe, folder=elsewhere)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "identical: tables/aligned.parquet and the raw data of 1 run" in verified.stdout
    assert not list(elsewhere.iterdir())


def test_another_seed_is_not_identical_and_other_versions_are_named(recipe: Path) -> None:
    content = json.loads(recipe.read_text())
    content["runs"][0]["manifest"]["experiment"]["seed"] = 7
    content["software"]["nr-link"] = "nr-link 0.0.1"
    recipe.write_text(json.dumps(content))
    verified = command("ccu", "verify", recipe)
    assert verified.returncode == 1
    assert "not identical" in verified.stdout
    assert "nr-link: nr-link 0.0.1 there" in verified.stdout
