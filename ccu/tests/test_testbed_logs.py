# SPDX-License-Identifier: Apache-2.0
"""The logs of testbeds started manually: the newest are kept, and none of a testbed that is up is
removed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from ccu.host import resources, testbed_logs
from ccu.host.testbed_logs import LogDirectory


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "run")
    monkeypatch.setattr(testbed_logs, "FOLDER", tmp_path / "testbeds")
    for age, name in enumerate(("newest", "newer", "older", "oldest")):
        made = tmp_path / "testbeds" / name / "raw"
        made.mkdir(parents=True)
        (made / "gnb-stdout.log").write_text("x" * 1000)
        os.utime(made.parent, (10**9 - age, 10**9 - age))
    return tmp_path / "testbeds"


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def is_locked(folder: Path) -> bool:
    """Return whether another ccu would have to wait for the folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def test_the_newest_are_kept(folder: Path) -> None:
    (sentence,) = testbed_logs.remove(kept=3)
    assert sentence.startswith("removed the logs of a testbed (")
    assert names(folder) == {"newest", "newer", "older"}
    assert testbed_logs.remove(kept=3) == []


def test_the_logs_of_a_testbed_that_is_up_stay(folder: Path) -> None:
    up = LogDirectory(str(folder / "abcdef"))
    up.make()
    assert "4 testbeds" in testbed_logs.remove()[0]
    assert names(folder) == {"abcdef"}
    up.remove()
    assert "a testbed" in testbed_logs.remove()[0]
    assert names(folder) == set()


def test_a_ccu_with_other_records_removes_no_logs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lanes of the tests share the logs' folder, but not /run/ccu: neither sees the other's
    records, and an `up` of one must keep its directory through a `clean` of the other."""
    coming_up = LogDirectory(str(folder / "abcdef"))
    coming_up.make()
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "elsewhere")
    testbed_logs.remove()
    assert names(folder) == {"abcdef"}


def test_no_testbed_starts_while_old_logs_are_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder stays locked between the decision and the removal."""
    tried = []

    def is_in_use(directory: Path) -> bool:
        tried.append(directory.name)
        assert is_locked(folder)
        return False

    monkeypatch.setattr(testbed_logs, "_is_in_use", is_in_use)
    testbed_logs.remove()
    assert sorted(tried) == ["newer", "newest", "older", "oldest"]
    assert not is_locked(folder)


def test_a_directory_is_marked_before_it_is_visible(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text = Path.write_text

    def marked(file: Path, *args: str) -> int:
        assert is_locked(folder)
        return write_text(file, *args)

    monkeypatch.setattr(Path, "write_text", marked)
    LogDirectory(str(folder / "abcdef")).make()
    assert not is_locked(folder)


def test_a_reboot_ends_every_testbed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LogDirectory(str(folder / "abcdef")).make()
    (tmp_path / "boot_id").write_text("another\n")
    monkeypatch.setattr(testbed_logs, "_BOOT_ID", tmp_path / "boot_id")
    assert "5 testbeds" in testbed_logs.remove()[0]


def test_a_record_of_an_older_ccu_keeps_its_logs(folder: Path) -> None:
    resources.FOLDER.mkdir()
    resources.record_file("oldest").write_text("{}")
    testbed_logs.remove()
    assert names(folder) == {"oldest"}


def test_a_machine_without_logs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed_logs, "FOLDER", folder / "nowhere")
    assert testbed_logs.remove() == []
