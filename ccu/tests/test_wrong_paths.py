# SPDX-License-Identifier: Apache-2.0
"""Paths that are not a run, campaign or scenario, which are refused with code 2
(docs/errors.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.cli.main import main

COMMANDS = (
    *("rerun --dry-run", "run --cc cubic --dry-run --scenario", "run --dry-run -f"),
    *("campaign run", "campaign plan", "campaign resume", "campaign status", "campaign report"),
    *("scenario show", "scenario validate", "scenario import mahimahi", "scenario export csv"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_of_the_wrong_kind_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    wrong_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("sys.argv", ["ccu", *command.split(), f"./{wrong_path.name}"])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 2, printed.err
    assert printed.err.startswith("ccu: error: ")
    assert "wrong" in printed.err.splitlines()[0]
    assert printed.out == ""
    assert sorted(tmp_path.rglob("*")) == before
