# SPDX-License-Identifier: Apache-2.0
"""Several pytests of one user at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

USES_A_FOLDER = f"{Path(__file__).name}::test_a_folder_is_empty_at_first"


def test_a_folder_is_empty_at_first(tmp_path: Path) -> None:
    assert not list(tmp_path.iterdir())


def test_one_that_starts_closes_no_folder_of_another(tmp_path: Path) -> None:
    """Programs that run as nobody work below such folders, which a test opens for them."""
    opened = [tmp_path, *tmp_path.parents][:-2]
    for folder in opened:
        folder.chmod(0o755)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", USES_A_FOLDER]
    other = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert other.returncode == pytest.ExitCode.OK, other.stdout
    assert [folder.stat().st_mode & 0o777 for folder in opened] == [0o755] * len(opened)
