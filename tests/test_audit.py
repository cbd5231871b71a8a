# SPDX-License-Identifier: Apache-2.0
"""`.ci/audit` of what npm prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("printed", "is_found"),
    [
        ("1 high severity vulnerability", True),
        ("3 vulnerabilities (1 moderate, 2 high)", True),
        ("found 0 vulnerabilities", False),
        ("npm error audit endpoint returned an error", False),
    ],
)
def test_advisories_of_one_and_of_several_severities_are_found(
    printed: str, is_found: bool
) -> None:
    (pattern,) = re.findall(r"npm '([^']+)' in_folder", (ROOT / ".ci/audit").read_text())
    assert bool(re.search(pattern, printed)) == is_found
