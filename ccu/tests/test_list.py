# SPDX-License-Identifier: Apache-2.0
"""The output of `ccu list`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ccu import congestion
from ccu.cli.main import app
from ccu.congestion import Control
from ccu.testbeds.virtual import driver


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


def test_those_of_a_kernel_that_is_not_built_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"cubic": Control("kernel"), "lp": Control("kernel module", "no root")}
    monkeypatch.setattr(congestion, "describe", lambda: here)
    monkeypatch.setattr(driver.kernel, "congestion_controls", frozenset)
    lines = listed()
    assert "htcp" not in lines
    assert "not now: no root" in lines["lp"]
