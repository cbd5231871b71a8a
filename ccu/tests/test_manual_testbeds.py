# SPDX-License-Identifier: Apache-2.0
"""A testbed started manually that does not come up leaves nothing but its logs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ccu.host import resources, slots, testbed_logs
from ccu.runs import manual
from ccu.scenarios.play import experiment
from ccu.spec.errors import Interrupted
from ccu.testbeds import Site
from ccu.testbeds.oai.driver import OaiDriver
from testsupport.interrupted_removal import Slow


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Site], None]], None]:
    """Start a testbed whose containers are what a function makes."""
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "run")
    monkeypatch.setattr(slots, "FOLDER", tmp_path / "run")
    monkeypatch.setattr(testbed_logs, "FOLDER", tmp_path / "testbeds")
    monkeypatch.setattr(OaiDriver, "check_machine", lambda *_: None)

    def begin(make: Callable[[Site], None]) -> None:
        def bring_up(site: Site) -> list[str]:
            make(site)
            return []

        testbed = SimpleNamespace(up=bring_up)
        monkeypatch.setattr(OaiDriver, "manual", lambda _: testbed)
        manual.up(experiment("static", {"testbed": "rfsim", "prb": 106}), print)

    return begin


def records(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "run").glob("*.json"))


@pytest.mark.parametrize("checks", [True, False])
def test_a_closed_terminal_ends_it_in_order(
    tmp_path: Path, up: Callable[[Callable[[Site], None]], None], checks: bool
) -> None:
    container = tmp_path / "container"

    def make(site: Site) -> None:
        site.resources.register(Slow(str(container), signal.SIGHUP))
        container.touch()
        signal.raise_signal(signal.SIGHUP)
        if checks:  # else it comes too late for any wait
            site.supervisor.check()

    before = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.default_int_handler)  # The test itself has to go on.
    try:
        with pytest.raises(Interrupted, match="interrupted by SIGHUP"):
            up(make)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert not container.exists()
    assert records(tmp_path) == []


def test_one_that_is_up_stays(tmp_path: Path, up: Callable[[Callable[[Site], None]], None]) -> None:
    container = tmp_path / "container"

    def make(site: Site) -> None:
        site.resources.register(Slow(str(container), signal.SIGHUP))
        container.touch()

    up(make)
    assert container.exists()
    (record,) = records(tmp_path)
    assert '"owner": null' in record.read_text()
