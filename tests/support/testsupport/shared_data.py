# SPDX-License-Identifier: Apache-2.0
"""Measured data of others, which is not shipped: its location, and a skip where it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest


def shared(name: str) -> Path:
    """`shared/data/<name>` beside the project; skips the test, saying so, where there is none."""
    for parent in Path(__file__).resolve().parents:
        candidate = parent / "shared" / "data" / name
        if candidate.exists():
            return candidate
    pytest.skip(f"shared/data/{name} is not beside the project: real data of others, not shipped")
