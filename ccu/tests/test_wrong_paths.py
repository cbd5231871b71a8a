# SPDX-License-Identifier: Apache-2.0
"""A path that is no run, no campaign and no scenario is refused with code 2 (docs/errors.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.cli import main

COMMANDS = (
    *("rerun --dry-run", "run --cc cubic --dry-run --scenario", "run --dry-run -f"),
    *("campaign run", "campaign plan", "campaign resume", "campaign status", "campaign report"),
    *("scenario show", "scenario validate", "scenario import mahimahi", "scenario export csv"),
)


def wrong_path(folder: Path, kind: str) -> Path:
    path = folder / "wrong"
    if kind == "a file":
        path.write_text("words\n")
    elif kind != "nowhere":
        path.mkdir()
    for name in ("run.json", "campaign.json"):
        if kind == "half a manifest":
            (path / name).write_text("{")
        elif kind == "another's manifest":
            (path / name).write_text("[]")
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "kind", ["nowhere", "empty", "a file", "half a manifest", "another's manifest"]
)
def test_a_path_that_is_not_what_it_should_be(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    kind: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = wrong_path(tmp_path, kind)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("sys.argv", ["ccu", *command.split(), f"./{path.name}"])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code == 2, said.err
    assert said.err.startswith("ccu: error: ")
    assert "wrong" in said.err.splitlines()[0]
    assert said.out == ""
    assert sorted(tmp_path.rglob("*")) == before
