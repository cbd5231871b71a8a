# SPDX-License-Identifier: Apache-2.0
"""Logs of testbeds brought up by hand: the newest stay for a while, and none is taken from one that
is up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ccu.host import leftovers, testbed_logs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(leftovers, "FOLDER", tmp_path / "run")
    monkeypatch.setattr(testbed_logs, "FOLDER", tmp_path / "testbeds")
    for age, name in enumerate(("newest", "newer", "older", "oldest")):
        made = tmp_path / "testbeds" / name / "raw"
        made.mkdir(parents=True)
        (made / "gnb-stdout.log").write_text("x" * 1000)
        os.utime(made.parent, (10**9 - age, 10**9 - age))
    return tmp_path / "testbeds"


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def test_the_newest_are_kept(folder: Path) -> None:
    (said,) = testbed_logs.remove(kept=3)
    assert said.startswith("removed the logs of a testbed (")
    assert names(folder) == {"newest", "newer", "older"}
    assert testbed_logs.remove(kept=3) == []


def test_what_is_up_or_coming_up_keeps_its_own(folder: Path) -> None:
    up = leftovers.of_this_process("abcdef", folder / "oldest")
    up.kept = True
    up.save()
    leftovers.of_this_process("fedcba", folder / "newer")
    (said,) = testbed_logs.remove()
    assert "2 testbeds" in said
    assert names(folder) == {"oldest", "newer"}


def test_a_machine_that_never_had_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed_logs, "FOLDER", folder / "nowhere")
    assert testbed_logs.remove() == []
