# SPDX-License-Identifier: Apache-2.0
"""Files of root for the user who called sudo."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ddu.console.ownership import give_to_sudo_user, make_directory


@pytest.fixture
def by_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setenv("SUDO_GID", "1000")


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def chown(path: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(os, "chown", chown)


@pytest.mark.usefixtures("by_sudo")
def test_a_file_system_without_owners_takes_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run into a memory card was refused, and left its empty directory."""
    refuse(monkeypatch, errno.EPERM)
    made = tmp_path / "runs" / "one"
    make_directory(made)
    assert made.is_dir()


@pytest.mark.usefixtures("by_sudo")
def test_a_broken_file_system_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        give_to_sudo_user(tmp_path)
