# SPDX-License-Identifier: Apache-2.0
"""UEs that are handed over in real time, with several carriers and in both directions."""

from __future__ import annotations

from pathlib import Path

import pytest

from testsupport.drives import HANDOVERS, driven, handovers
from testsupport.runs import Runs


@pytest.mark.root
def test_ues_are_handed_over_in_real_time(runs: Runs, tmp_path: Path) -> None:
    run = driven(tmp_path, testbed=runs.testbed, ues=4, carriers=2, drx="interactive")
    for ue in range(4):
        # On a busy machine the link outlasts the drive, which then begins again.
        assert handovers(run, ue)[: len(HANDOVERS)] == HANDOVERS, f"UE {ue}"
