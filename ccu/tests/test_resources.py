# SPDX-License-Identifier: Apache-2.0
"""The resources of a run: recorded before they are made, removed once, and only by their owner."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest

from ccu.host import processes, resources
from ccu.host.processes import Identity, StartedProcess
from ccu.host.resources import Resources
from ccu.host.root import need_root
from ccu.runs.manifest import UnfinishedRun
from ddu.console.ownership import make_directory
from ddu.console.problems import RefusedError

GONE = Identity(2**22 + 1, 1)
"""A pid above the largest pid of Linux, which no process has."""


@dataclass(frozen=True)
class Marker:
    """A file that represents a resource of the machine."""

    kind: ClassVar[str] = "marker"
    path: str

    def remove(self) -> list[str]:
        try:
            Path(self.path).unlink()
        except FileNotFoundError:
            return []
        return [f"removed {Path(self.path).name}"]


@pytest.fixture(autouse=True)
def run_ccu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run-ccu"
    folder.mkdir()
    monkeypatch.setattr(resources, "FOLDER", folder)
    return folder


def made(folder: Path, *names: str) -> list[Marker]:
    for name in names:
        (folder / name).touch()
    return [Marker(str(folder / name)) for name in names]


def as_of_a_killed_ccu(file: Path) -> None:
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "owner": GONE}))


def test_the_newest_are_removed_first_and_the_record_last(tmp_path: Path, run_ccu: Path) -> None:
    owned = resources.begin_record("run")
    owned.register(*made(tmp_path, "first", "second"))
    owned.register(*made(tmp_path, "third"))
    assert owned.remove() == ["removed third", "removed second", "removed first"]
    assert list(run_ccu.iterdir()) == []
    assert owned.remove() == []


def test_a_resource_that_cannot_be_removed_stays_registered(tmp_path: Path) -> None:
    owned = resources.begin_record("run")
    (tmp_path / "folder").mkdir()  # unlink refuses it
    stubborn = Marker(str(tmp_path / "folder"))
    owned.register(*made(tmp_path, "first"), stubborn, *made(tmp_path, "last"))
    last, sentence, first = owned.remove()
    assert (last, first) == ("removed last", "removed first")
    assert sentence.startswith(f"not removed: marker {tmp_path}/folder: ")
    assert owned.of(Marker) == [stubborn]
    assert len(json.loads(owned.file.read_text())["resources"]) == 1


def test_a_current_run_is_not_cleaned(tmp_path: Path) -> None:
    directory = unfinished(tmp_path)
    resources.begin_record("run").register(UnfinishedRun(str(directory)))
    assert resources.clean() == []
    assert json.loads((directory / "run.json").read_text())["status"] == "running"


def test_a_process_that_cannot_be_looked_at_is_not_taken_for_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a living run would be taken for abandoned, and what it uses be removed."""
    owned = resources.begin_record("run")
    too_many = OSError(errno.EMFILE, "Too many open files")
    with monkeypatch.context() as limited:
        file = Mock(**{"return_value.read_text.side_effect": too_many})
        limited.setattr(processes, "Path", file)
        with pytest.raises(OSError, match="Too many open files"):
            resources.clean()
    assert owned.file.exists()


def test_a_killed_runs_resources_are_found_by_their_kind(tmp_path: Path) -> None:
    directory = unfinished(tmp_path)
    owned = resources.begin_record("run")
    owned.register(UnfinishedRun(str(directory)))
    as_of_a_killed_ccu(owned.file)
    assert resources.clean() == [f"marked {directory} as failed"]
    assert json.loads((directory / "run.json").read_text())["status"] == "failed"
    assert resources.clean() == []


@pytest.mark.parametrize("change", ["a link", "another user's", "writable by others", "a file"])
def test_records_that_another_user_may_have_written_are_refused(
    tmp_path: Path, run_ccu: Path, change: str
) -> None:
    (marker,) = made(tmp_path, "somebody's file")
    resources.begin_record("run").register(marker)
    as_of_a_killed_ccu(resources.record_file("run"))
    if change == "a link":
        run_ccu.rename(tmp_path / "elsewhere")
        run_ccu.symlink_to(tmp_path / "elsewhere")
    elif change == "another user's":
        if os.geteuid() != 0:
            pytest.skip("only root can give a directory to another user")
        os.chown(run_ccu, 65534, 65534)
    elif change == "writable by others":
        run_ccu.chmod(0o777)
    else:
        run_ccu.rename(tmp_path / "elsewhere")
        run_ccu.touch()
    acts = (resources.clean, resources.unreadable, resources.kept)
    for act in (*acts, lambda: resources.begin_record("another")):
        with pytest.raises(RefusedError, match=r"run-ccu: .*may not be removed"):
            act()
    assert Path(marker.path).exists()


def test_a_new_folder_of_records_keeps_other_users_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "new")
    before = os.umask(0)
    try:
        resources.begin_record("run")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o022 == 0


def unfinished(tmp_path: Path) -> Path:
    directory = tmp_path / "a-run"
    directory.mkdir()
    (directory / "run.json").write_text(json.dumps({"status": "running"}))
    return directory


def test_a_testbed_that_is_kept_stays(tmp_path: Path) -> None:
    owned = resources.begin_record("run")
    owned.register(UnfinishedRun(str(unfinished(tmp_path))))
    owned.keep()
    assert resources.clean() == []
    assert [one.run_id for one in resources.kept()] == ["run"]


def test_a_reused_pid_is_not_killed() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        identity = processes.identify(sleeper.pid)
        assert identity is not None
        assert StartedProcess("sleep", identity.pid, identity.start_ticks - 1).remove() == []
        assert sleeper.poll() is None
        (sentence,) = StartedProcess("sleep", *identity).remove()
        assert sentence == f"ended process {sleeper.pid} (sleep)"
        assert sleeper.wait(600) == -signal.SIGTERM
    finally:
        sleeper.kill()


OLD = {"run_id": "old", "owner": list(GONE), "namespaces": ["ccu-old-ue"], "children": []}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps(OLD), "another version"),
        ('{"schema": "ccu-resources/1", "run_', "not JSON"),
        ("", "not JSON"),
        ("[]", "another version"),
        (json.dumps({"schema": "ccu-resources/1", "run_id": "x", "owner": 1}), "damaged"),
        (
            json.dumps(
                {
                    "schema": "ccu-resources/1",
                    "run_id": "x",
                    "owner": list(GONE),
                    "resources": [{"kind": "satellite", "name": "x"}],
                }
            ),
            "'satellite' is not a kind of resource",
        ),
        (
            json.dumps(
                {
                    "schema": "ccu-resources/1",
                    "run_id": "x",
                    "owner": list(GONE),
                    "resources": [{"kind": "process", "name": "x", "pid": "many"}],
                }
            ),
            "damaged",
        ),
    ],
)
def test_an_unreadable_record_is_reported_and_kept(run_ccu: Path, text: str, reason: str) -> None:
    file = run_ccu / "x.json"
    file.write_text(text)
    (sentence,) = resources.clean()
    assert sentence.startswith(f"{file}: ")
    assert reason in sentence
    assert "\n" not in sentence
    assert "then delete the file" in sentence
    assert file.read_text() == text


def test_a_running_older_ccu_is_ignored(run_ccu: Path) -> None:
    owner = processes.identify(os.getpid())
    (run_ccu / "old.json").write_text(json.dumps({**OLD, "owner": owner}))
    assert resources.clean() == []


def test_half_written_records_of_dead_processes_are_removed(run_ccu: Path) -> None:
    mine = processes.identify(os.getpid())
    assert mine is not None
    (run_ccu / "a.4194305-1.part").write_text("{")
    (run_ccu / "b.part").write_text("")
    writing = run_ccu / f"c.{mine.pid}-{mine.start_ticks}.part"
    writing.write_text("{")
    resources.clean()
    assert list(run_ccu.iterdir()) == [writing]


def test_only_one_cleans_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owned = resources.begin_record("run")
    owned.register(UnfinishedRun(str(unfinished(tmp_path))))
    as_of_a_killed_ccu(owned.file)
    seen = []

    def remove(self: Resources) -> list[str]:
        descriptor = os.open(resources.FOLDER, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
        seen.append(self.run_id)
        return []

    monkeypatch.setattr(Resources, "remove", remove)
    resources.clean()
    assert seen == ["run"]


def dies_at(line: int, directory: Path) -> bool:
    """Let a process make and remove a run, and kill it before the given executed line of
    resources.py; return whether it was killed."""
    pid = os.fork()
    if pid == 0:
        left = line

        def trace(frame: FrameType, event: str, _argument: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename != resources.__file__:
                return None
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        owned = resources.begin_record("run")
        owned.register(UnfinishedRun(str(directory)))
        (directory / "run.json").write_text(json.dumps({"status": "running"}))
        owned.remove()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def test_nothing_stays_after_a_kill_at_any_line(tmp_path: Path, run_ccu: Path) -> None:
    line, died = 0, True
    while died:
        line += 1
        directory = tmp_path / f"run-{line}"
        directory.mkdir()
        died = dies_at(line, directory)
        resources.clean()
        assert list(run_ccu.iterdir()) == []
        file = directory / "run.json"
        assert not file.exists() or json.loads(file.read_text())["status"] == "failed"
    assert line > 30


def test_each_kind_is_found_under_its_name() -> None:
    for entry in entry_points(group=resources.ENTRY_POINTS):
        assert entry.load().kind == entry.name


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root gives files away")
def test_new_folders_belong_to_the_user_who_called_sudo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "4321")
    monkeypatch.setenv("SUDO_GID", "4322")
    made = tmp_path / "runs" / "2026-run" / "raw"
    make_directory(made)
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (made, *made.parents[:2])}
    assert owners == {(4321, 4322)}
    assert tmp_path.stat().st_uid != 4321
    with pytest.raises(FileExistsError):
        make_directory(made)


def test_a_command_that_needs_root_is_named_as_sudo_finds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["/opt/5g/.venv/bin/ccu", "testbed", "up", "rfsim"])
    with pytest.raises(RefusedError, match=r"Type: sudo /opt/5g/\.venv/bin/ccu testbed up rfsim"):
        need_root()
