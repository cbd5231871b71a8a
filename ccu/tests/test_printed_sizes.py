# SPDX-License-Identifier: Apache-2.0
"""The sizes and counts that `ccu` prints."""

from __future__ import annotations

import pytest

from ccu.campaigns.plan_display import design
from ccu.campaigns.status import CampaignStatus, Row
from ccu.host.disk import amount


@pytest.mark.parametrize(
    ("size_bytes", "printed"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (12_345_678, "12 MB"),
        (999_400_000, "999 MB"),
        (3_400_000_000, "3.4 GB"),
        (72e9, "72 GB"),
    ],
)
def test_a_size_is_never_printed_as_nothing(size_bytes: float, printed: str) -> None:
    assert amount(size_bytes) == printed


def status(points: int, repeats: int) -> CampaignStatus:
    rows = [Row((("prb", str(n)),), repeats, 0, 0, 0, enough=False) for n in range(points)]
    return CampaignStatus(rows, {}, 0.0, [])


@pytest.mark.parametrize(
    ("points", "repeats", "printed"),
    [
        (1, 1, "1 (1 point, once)"),
        (1, 5, "5 (1 point, 5 times)"),
        (4, 2, "8 (4 points, each twice)"),
        (3, 10, "30 (3 points, each 10 times)"),
    ],
)
def test_a_design_in_words(points: int, repeats: int, printed: str) -> None:
    assert design(status(points, repeats), repeats) == printed
