# SPDX-License-Identifier: Apache-2.0
"""Loads the packages, which pytest would hide behind ccu/ and ddu/; what tests of both need."""

from pathlib import Path

import pytest
from hypothesis import settings

import ccu  # noqa: F401
import ddu  # noqa: F401

# Tests assert no times: a machine that is busy is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(params=["nowhere", "empty", "a file", "half a manifest", "another's manifest"])
def wrong_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One that is neither a run nor a campaign, called `wrong`."""
    path = tmp_path / "wrong"
    if request.param == "a file":
        path.write_text("words\n")
    elif request.param != "nowhere":
        path.mkdir()
    for name in ("run.json", "campaign.json"):
        if request.param == "half a manifest":
            (path / name).write_text("{")
        elif request.param == "another's manifest":
            (path / name).write_text("[]")
    return path
