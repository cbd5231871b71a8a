# SPDX-License-Identifier: Apache-2.0
"""The supervisor of a run's programs: the files that it opens for them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ccu.host.supervisor import Supervisor


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
