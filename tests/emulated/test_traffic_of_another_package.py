# SPDX-License-Identifier: Apache-2.0
"""A kind of traffic from another package (docs/extending.md) runs in real time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testsupport import pulse

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes network namespaces"),
]


def test_it_runs_to_its_tables(tmp_path: Path) -> None:
    packages = pulse.installed(tmp_path / "packages")
    pulse.check_run(packages, tmp_path / "runs", "emulated")
