# SPDX-License-Identifier: Apache-2.0
"""The output of `ccu list`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu import congestion
from ccu.cli.main import app
from ccu.congestion import Control
from ccu.host import programs
from ccu.scenarios import library, nr_link
from ccu.testbeds.virtual import driver
from ddu.console.problems import CommandError


def listed() -> dict[str, str]:
    ran = CliRunner().invoke(app, ["list", "cc"])
    assert ran.exit_code == 0, ran.output
    return {line.split()[0]: line for line in ran.output.splitlines() if line.split()}


def test_controls_of_a_testbeds_kernel_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"cubic": Control("kernel"), "lp": Control("kernel module", "no root")}
    monkeypatch.setattr(congestion, "describe", lambda: here)
    own = frozenset({"bic", "cubic", "htcp", "lp"})
    monkeypatch.setattr(driver.kernel, "congestion_controls", lambda: own)
    lines = listed()
    assert "kernel of --testbed virtual only  " in lines["htcp"]
    assert "Leith and Shorten" in lines["htcp"]
    assert "bic" in lines
    assert "virtual" not in lines["cubic"]
    assert "kernel of --testbed virtual only; here: no root" in lines["lp"]


def test_an_nr_link_of_another_version_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "nr-link"
    older.write_text("#!/bin/sh\necho \"error: unrecognized subcommand 'list'\" >&2\nexit 2\n")
    older.chmod(0o755)
    monkeypatch.setattr(programs, "find", lambda _: older)
    for ask in (nr_link.queue_managers, library):
        with pytest.raises(CommandError, match=r"failed: error: unrec.*\n.*another version: run"):
            ask()


def test_those_of_a_kernel_that_is_not_built_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"cubic": Control("kernel"), "lp": Control("kernel module", "no root")}
    monkeypatch.setattr(congestion, "describe", lambda: here)
    monkeypatch.setattr(driver.kernel, "congestion_controls", frozenset)
    lines = listed()
    assert "htcp" not in lines
    assert "not in real time here: no root" in lines["lp"]
