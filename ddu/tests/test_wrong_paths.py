# SPDX-License-Identifier: Apache-2.0
"""A path that is no run, no campaign and no backup is refused with code 2 (docs/errors.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddu.cli.main import main
from testsupport.synthetic_run import steady

OF_A_RUN = ("analyze", "compare", "export", "schema --run", "publish", "publish --live")
OF_RUNS = ("analyze --runs", "publish --runs", "import")
OF_A_CAMPAIGN = ("campaign report",)
COMMANDS = (*OF_A_RUN, *OF_RUNS, *OF_A_CAMPAIGN)
NOBODY = "postgresql://ddu@127.0.0.1:1/testbed"


def ended(monkeypatch: pytest.MonkeyPatch, command: str, *paths: Path) -> int:
    monkeypatch.setattr("sys.argv", ["ddu", *command.split(), *map(str, paths)])
    with pytest.raises(SystemExit) as end:
        main()
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_of_the_wrong_kind_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    wrong_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DDU_STORE", NOBODY)
    before = sorted(tmp_path.rglob("*"))
    assert ended(monkeypatch, command, wrong_path) == 2
    said = capsys.readouterr()
    assert said.err.startswith("ddu: error: ")
    assert "wrong" in said.err.splitlines()[0]
    assert said.out == ""
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", ["store status", "store backup", "store restore", "unpublish"])
def test_where_no_store_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("DDU_STORE_DIR", str(tmp_path / "store"))
    monkeypatch.delenv("DDU_STORE", raising=False)
    paths = [] if command == "store status" else [tmp_path / "nowhere"]
    assert ended(monkeypatch, command, *paths) == 2
    assert "no store here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_place_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong"
    file.write_text("words\n")
    assert ended(monkeypatch, "store up --directory", file) == 2
    assert "wrong/secrets: cannot be written (Not a directory)" in capsys.readouterr().err


def test_a_run_beside_what_is_none_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DDU_STORE", NOBODY)
    run = steady(10).write(tmp_path / "run")
    assert ended(monkeypatch, "publish", tmp_path / "nowhere", run) == 1
    assert "nobody answers" in capsys.readouterr().err
