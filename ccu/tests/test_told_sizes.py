# SPDX-License-Identifier: Apache-2.0
"""Sizes and counts as `ccu` tells them."""

from __future__ import annotations

import pytest

from ccu.campaigns.account import Account, Row
from ccu.campaigns.display import design
from ccu.host.disk import amount


@pytest.mark.parametrize(
    ("size_bytes", "told"),
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
def test_a_size_is_never_told_as_nothing(size_bytes: float, told: str) -> None:
    assert amount(size_bytes) == told


def account(points: int, repeats: int) -> Account:
    rows = [Row((("prb", str(n)),), repeats, 0, 0, 0, enough=False) for n in range(points)]
    return Account(rows, {}, 0.0, [])


@pytest.mark.parametrize(
    ("points", "repeats", "told"),
    [
        (1, 1, "1 (1 point, once)"),
        (1, 5, "5 (1 point, 5 times)"),
        (4, 2, "8 (4 points, each twice)"),
        (3, 10, "30 (3 points, each 10 times)"),
    ],
)
def test_a_design_in_words(points: int, repeats: int, told: str) -> None:
    assert design(account(points, repeats), repeats) == told
