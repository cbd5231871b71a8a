# SPDX-License-Identifier: Apache-2.0
"""A wrong figure or recipe gets one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.cli.recipe import app
from ccu.recipes.collect import recipe_of
from ccu.recipes.recipe import Recipe, packed, read
from ddu.console.problems import RefusedError
from testsupport.fsyncs import fsyncs

RUN = {"manifest": {"run": "r"}, "files": {}}
VALID = {"schema": "ccu-recipe/1", "file": "a.svg", "sha256": "0", "made_by": "run",
         "software": {}, "seeds": [1], "runs": [RUN]}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("words", "is not a recipe"),
        ("[]", "is not a recipe of ccu-recipe/1"),
        (json.dumps({**VALID, "schema": "ccu-recipe/9"}), "(schema: ccu-recipe/9)"),
        (json.dumps({**VALID, "runs": []}), "runs"),
        (json.dumps({**VALID, "file": "../a.svg"}), "is not a file below a directory"),
        (json.dumps({**VALID, "more": 1}), "unknown key"),
    ],
)
def test_what_is_no_recipe_gets_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "a.recipe"
    file.write_text(content)
    with pytest.raises(RefusedError) as refused:
        read(file)
    (problem,) = refused.value.problems
    assert said in f"{problem.where.key} {problem.rule}"
    assert problem.where.file == str(file)


def test_a_missing_recipe_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot be read"):
        read(tmp_path / "none.recipe")


@pytest.mark.parametrize("files", [{"../x": packed(b"")}, {"/x": packed(b"")}])
def test_a_recipe_writes_nothing_outside_of_its_folder(
    tmp_path: Path, files: dict[str, str]
) -> None:
    file = tmp_path / "a.recipe"
    file.write_text(json.dumps({**VALID, "runs": [{**RUN, "files": files}]}))
    with pytest.raises(RefusedError, match="is not a file below a directory"):
        read(file)


def test_a_file_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.recipe"
    huge = packed(bytes(70 << 20))
    file.write_text(json.dumps({**VALID, "runs": [{**RUN, "files": {"raw/x": huge}}]}))
    with pytest.raises(RefusedError, match="is cut off, or too large"):
        read(file).runs[0].write(tmp_path / "run")


def test_what_is_no_figure_gets_one_sentence(tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.svg"
    for path, said in (
        (tmp_path / "none.svg", "no such file"),
        (tmp_path, "is a directory"),
        (lonely, "is not in the directory of a run, comparison or campaign"),
    ):
        lonely.write_text("<svg/>")
        with pytest.raises(RefusedError) as refused:
            recipe_of(path)
        assert said in str(refused.value)


def test_a_recipe_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Recipe.model_validate(VALID)
    monkeypatch.setattr("ccu.recipes.collect.recipe_of", lambda _: made)
    file = tmp_path / "a.recipe"
    file.write_text("of an earlier time")
    with fsyncs() as done:
        said = CliRunner().invoke(app, ["a.svg", "--to", str(file)])
    assert said.exit_code == 0, said.output
    done.need_whole(file)
    assert read(file) == made
