# SPDX-License-Identifier: Apache-2.0
"""The supervisor of a run's programs: the files that it opens for them, and whom it blames."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ccu.host.supervisor import Supervisor
from ccu.spec.errors import RunFailed


@pytest.mark.parametrize("name", ["one.log", "one.out", "report.json"])
def test_no_link_leads_what_a_program_writes_elsewhere(tmp_path: Path, name: str) -> None:
    logs, outside = tmp_path / "logs", tmp_path / "outside"
    logs.mkdir()
    outside.write_text("of root")
    (logs / name).symlink_to(outside)
    resources = SimpleNamespace(register=lambda _: None)
    supervisor = Supervisor(cast(Any, resources), logs)
    output = logs / name if name == "report.json" else None
    with pytest.raises(OSError, match="symbolic link"):
        supervisor.start("one", ["echo", "written"], stage="traffic", output=output, lasting=False)
    assert outside.read_text() == "of root"


def test_a_lost_connection_is_due_to_the_program_that_ended(tmp_path: Path) -> None:
    supervisor = Supervisor(cast(Any, SimpleNamespace(register=lambda _: None)), tmp_path)
    end = tmp_path / "end"
    os.mkfifo(end)
    supervisor.start("modem", ["sh", "-c", 'read -r _ <"$0"; exit 3', str(end)], stage="radio")

    def lose() -> None:
        end.write_text("now\n")
        raise RunFailed("channel control", "closed the connection")

    with pytest.raises(RunFailed, match="modem ended with code 3"):
        supervisor.programs_first()(lose)()


def test_a_lost_connection_to_a_program_that_goes_on_is_reported(tmp_path: Path) -> None:
    supervisor = Supervisor(cast(Any, SimpleNamespace(register=lambda _: None)), tmp_path)
    with pytest.raises(RunFailed, match="closed the connection"), supervisor.programs_first():
        raise RunFailed("channel control", "closed the connection")
