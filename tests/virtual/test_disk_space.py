# SPDX-License-Identifier: Apache-2.0
"""The disk space that a run takes, against what is expected before."""

from __future__ import annotations

import pytest

from ccu.runs.disk_space import most_bytes
from ccu.scenarios.play import experiment
from testsupport.runs import Runs


@pytest.mark.parametrize(
    ("scenario", "least_ratio"), [("constant-1G", 0.8), ("wifi-5", 0.8), ("static", 0.4)]
)
def test_a_run_writes_no_more_than_expected(
    experiments: Runs, scenario: str, least_ratio: float
) -> None:
    """Not much less either where the scenario gives the capacity, which the radio's channel does
    not."""
    run = experiments("--cc", "bbr", "--scenario", scenario, "--duration", "5s")
    written_bytes = sum(file.stat().st_size for file in (run / "raw").rglob("*") if file.is_file())
    expected_bytes = most_bytes(experiment(scenario, {"duration": "5s"}))
    assert least_ratio < written_bytes / expected_bytes <= 1.0
