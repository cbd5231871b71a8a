# SPDX-License-Identifier: Apache-2.0
"""Loads the packages, which pytest would hide behind ccu/ and ddu/; what tests of both need."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import ccu  # noqa: F401
import ddu  # noqa: F401

OWN_FOLDER = pytest.StashKey[str]()

# Tests assert no times: a machine that is busy is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give each pytest a folder of its own.

    The one that all pytests of a user share is closed to other users whenever one starts, and
    programs that run as nobody work below it."""
    if config.option.basetemp is None:
        # A short name: paths of sockets have 107 bytes.
        config.option.basetemp = config.stash[OWN_FOLDER] = tempfile.mkdtemp(prefix="pytest-")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove it, unless a test has failed (pytest removes what passed: `pyproject.toml`)."""
    folder = session.config.stash.get(OWN_FOLDER, None)
    if folder and exitstatus == pytest.ExitCode.OK:
        shutil.rmtree(folder, ignore_errors=True)


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
